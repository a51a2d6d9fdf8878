#!/usr/bin/env python3
"""Compares the status of every chain of finished games with GNU Go's.

Games between this engine and GNU Go, and self-play games of each, are played until both sides pass, with dead stones on the
board. Then `final_status_list` of both programs tells which stones are dead, alive and in seki, and the answers are compared
chain by chain: GNU Go first plays the game out (its aftermath), and is nearly always right. Differences are printed with the
board.

    cargo build --release -p engine --bin qiyou-engine
    engine/tests/go_status_gnugo.py target/release/qiyou-engine --games 200 --keep /tmp/games.jsonl

`--keep` stores the games and GNU Go's answers in a file, and later runs read them from there, which takes
seconds. GNU Go 3.8 is the package `gnugo` of Debian. Fails if fewer chains than `--at-least` agree.
"""
import argparse
import json
import random
import shlex
import subprocess
import sys

LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"


class Gtp:
    """A program that speaks the Go Text Protocol."""

    def __init__(self, command):
        self.pipe = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def ask(self, line):
        self.pipe.stdin.write(line + "\n")
        self.pipe.stdin.flush()
        answer = []
        while True:
            text = self.pipe.stdout.readline()
            if not text:
                raise RuntimeError(f"{line}: the program has ended")
            if not text.strip() and answer:
                break
            if text.strip():
                answer.append(text.rstrip())
        if not answer[0].startswith("="):
            raise RuntimeError(f"{line}: {answer[0]}")
        return "\n".join([answer[0][1:].strip(), *answer[1:]])

    def close(self):
        self.pipe.stdin.close()
        self.pipe.wait()


def setup(player, size):
    for line in (f"boardsize {size}", "clear_board", "komi 7.5"):
        player.ask(line)


def play(players, size, rng):
    """A game as moves `[colour, vertex]` up to two passes; `None` if it exceeds the move limit."""
    for player in set(players):
        setup(player, size)
    moves = []
    passes = 0
    opening = rng.randrange(1, 7)
    while passes < 2:
        if len(moves) > 3 * size * size:
            return None
        colour = "bw"[len(moves) % 2]
        if len(moves) < opening:
            vertex = LETTERS[rng.randrange(2, size - 2)] + str(rng.randrange(3, size - 1))
            if any(vertex == other for _, other in moves):
                continue
            for player in set(players):
                player.ask(f"play {colour} {vertex}")
        else:
            mover = players[len(moves) % 2]
            vertex = mover.ask(f"genmove {colour}").upper()
            if vertex == "RESIGN":
                return None
            for player in set(players) - {mover}:
                player.ask(f"play {colour} {vertex}")
        moves.append([colour, vertex])
        passes = passes + 1 if vertex == "PASS" else 0
    return moves


def replay(player, game):
    setup(player, game["size"])
    for colour, vertex in game["moves"]:
        player.ask(f"play {colour} {vertex}")


def fates(player):
    """A program's status of each stone."""
    found = {}
    for fate in ("alive", "dead", "seki"):
        for vertex in player.ask(f"final_status_list {fate}").split():
            found[vertex.upper()] = fate
    return found


def board(player, size):
    """The stones by vertex, parsed from a program's `showboard`, and its text."""
    stones = {}
    for colour in ("black", "white"):
        for vertex in player.ask(f"list_stones {colour}").split():
            stones[vertex.upper()] = colour[0]
    rows = []
    for row in range(size, 0, -1):
        cells = (stones.get(f"{LETTERS[column]}{row}", ".") for column in range(size))
        rows.append(f"{row:2} " + " ".join({"b": "X", "w": "O"}.get(cell, cell) for cell in cells))
    rows.append("   " + " ".join(LETTERS[:size]))
    return stones, "\n".join(rows)


def chains(stones):
    """The stones of each chain."""
    left = set(stones)
    while left:
        start = min(left)
        chain, open_ends = {start}, [start]
        while open_ends:
            vertex = open_ends.pop()
            column, row = LETTERS.index(vertex[0]), int(vertex[1:])
            for near, line in ((column - 1, row), (column + 1, row), (column, row - 1), (column, row + 1)):
                if near < 0:
                    continue
                neighbour = f"{LETTERS[near]}{line}"
                if stones.get(neighbour) == stones[start] and neighbour not in chain:
                    chain.add(neighbour)
                    open_ends.append(neighbour)
        left -= chain
        yield sorted(chain)


def make(arguments, ours, theirs):
    """Yields games with GNU Go's answers."""
    rng = random.Random(arguments.seed)
    sizes = [int(size) for size in arguments.sizes.split(",")]
    pairings = ((ours, ours), (theirs, theirs), (ours, theirs), (theirs, ours))
    made = 0
    while made < arguments.games:
        size, players = sizes[made % len(sizes)], pairings[(made // len(sizes)) % len(pairings)]
        moves = play(players, size, rng)
        if moves is None:
            continue
        game = {"size": size, "moves": moves}
        replay(theirs, game)
        game["gnugo"] = fates(theirs)
        game["stones"], game["picture"] = board(theirs, size)
        made += 1
        yield game


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine", help="qiyou-engine")
    parser.add_argument("--gnugo", default="gnugo --mode gtp --level 1 --chinese-rules")
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--sizes", default="9,9,9,13,9,9,9,13,9,19")
    parser.add_argument("--playouts", type=int, default=150, help="of this engine for a move")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="file of the games and GNU Go's answers")
    parser.add_argument("--at-least", type=float, default=98.0, help="percent of chains")
    parser.add_argument("--quiet", action="store_true", help="no boards")
    arguments = parser.parse_args()
    ours = Gtp([arguments.engine, "gtp", "--resign", "0", "--leave-dead", "--playouts", str(arguments.playouts)])
    games = None
    if arguments.keep:
        try:
            with open(arguments.keep, encoding="utf-8") as file:
                games = [json.loads(line) for line in file]
        except FileNotFoundError:
            pass
    if games is None:
        theirs = Gtp(shlex.split(arguments.gnugo))
        games = []
        keep = open(arguments.keep, "w", encoding="utf-8") if arguments.keep else None
        for game in make(arguments, ours, theirs):
            games.append(game)
            if keep:
                keep.write(json.dumps(game) + "\n")
                keep.flush()
        theirs.close()
    total = wrong_life = wrong_seki = games_alike = dead = 0
    for number, game in enumerate(games):
        replay(ours, game)
        here = fates(ours)
        differing = []
        for chain in chains(game["stones"]):
            total += 1
            said, expected = here.get(chain[0]), game["gnugo"].get(chain[0])
            dead += expected == "dead"
            if (said == "dead") != (expected == "dead"):
                wrong_life += 1
                differing.append(f"{chain[0]} of {len(chain)}: {said}, GNU Go {expected}")
            elif said != expected:
                wrong_seki += 1
        games_alike += not differing
        if differing and not arguments.quiet:
            print(f"game {number}, {game['size']}x{game['size']}: {'; '.join(differing)}\n{game['picture']}\n")
    ours.close()
    share = 100.0 * (total - wrong_life) / max(1, total)
    print(
        f"{len(games)} games, {total} chains, {dead} of them dead: {share:.2f} % dead or not as GNU Go has them, "
        f"{games_alike} games without a difference; alive or seki differs in {wrong_seki}"
    )
    return 0 if share >= arguments.at_least else 1


if __name__ == "__main__":
    sys.exit(main())
