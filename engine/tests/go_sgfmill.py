#!/usr/bin/env python3
"""Games of Go and their files, compared with sgfmill (PyPI).

    python -m venv venv && venv/bin/pip install sgfmill
    cargo build --release -p engine --bin qiyou-engine
    venv/bin/python engine/tests/go_sgfmill.py target/release/qiyou-engine [--games 200]

Not part of `make test`, because it needs a package that the build does not need. Compares, in random games: each capture, the
point of a simple ko, the area score; then each program reads the other's files, variations included.
"""
import argparse
import os
import random
import subprocess
import sys
import tempfile

from sgfmill import boards, sgf

LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return done.stdout


def line(board, side, ko):
    rows = []
    for row in reversed(range(board.side)):
        text, empty = "", 0
        for column in range(board.side):
            stone = board.get(row, column)
            if stone:
                text += (str(empty) if empty else "") + stone
                empty = 0
            else:
                empty += 1
        rows.append(text + (str(empty) if empty else ""))
    at = f"{LETTERS[ko[1]]}{ko[0] + 1}" if ko else "-"
    return f"{'/'.join(rows)} {side} {at}"


def play(engine, folder, size, seed):
    chooser = random.Random(seed)
    board, side, ko, moves = boards.Board(size), "b", None, []
    for ply in range(chooser.randrange(20, 3 * size * size)):
        # Comparing every position would take hours: only a sample.
        if chooser.random() < 0.04:
            ours = set(run(engine, "legal", "--game", "go", "--position", line(board, side, ko)).split()) - {"pass"}
            theirs = set()
            for row, column in board_points(size):
                if board.get(row, column) is None and (row, column) != ko:
                    after = board.copy()
                    after.play(row, column, side)
                    if after.get(row, column):
                        theirs.add(f"{LETTERS[column]}{row + 1}")
            # The position has no history for superko, so only suicide and the simple ko are illegal.
            if ours != theirs:
                sys.exit(f"{line(board, side, ko)}\n  only ours {ours - theirs}\n  only theirs {theirs - ours}")
        choices = []
        for row, column in board_points(size):
            if board.get(row, column) is None and (row, column) != ko:
                choices.append((row, column))
        chooser.shuffle(choices)
        for row, column in choices:
            after = board.copy()
            next_ko = after.play(row, column, side)
            if after.get(row, column) and line(after, "b", None) not in [m[2] for m in moves]:
                board, ko = after, next_ko
                moves.append((side, (row, column), line(after, "b", None)))
                break
        else:
            break
        side = "w" if side == "b" else "b"
    # Written by sgfmill, read by the engine: same board and score.
    game = sgf.Sgf_game(size=size)
    root = game.get_root()
    root.set("KM", 0.5)
    root.set("RU", "Chinese")
    root.set("PB", "黑棋 ] \\ :")
    for colour, point, _ in moves:
        node = game.extend_main_sequence()
        node.set_move(colour, point)
        if chooser.random() < 0.05:
            game.get_last_node().parent.new_child().set("C", "a variation")
    for colour in (side, "w" if side == "b" else "b"):
        game.extend_main_sequence().set_move(colour, None)
    margin = board.area_score() - 0.5
    root.set("RE", f"{'B' if margin > 0 else 'W'}+{abs(margin):g}")
    path = os.path.join(folder, "theirs.sgf")
    with open(path, "wb") as file:
        file.write(game.serialise())
    shown = run(engine, "show", "--game", "go", path).splitlines()
    expected = line(board, side, None).split()[0]
    position = [text for text in shown if text.startswith(expected + " ")]
    if not position:
        sys.exit(f"{path}: another board than {expected}:\n" + "\n".join(shown))
    winner = "Black" if margin > 0 else "White"
    # The result is accepted because the engine's score equals the file's.
    if shown[-1] != f"{winner} wins: by count.":
        sys.exit(f"{path}: {shown[-1]}, sgfmill says {margin}")
    # Written by the engine, read by sgfmill: everything is equal.
    again = os.path.join(folder, "ours.sgf")
    run(engine, "convert", path, again)
    with open(again, "rb") as file:
        ours = sgf.Sgf_game.from_bytes(file.read())
    same = [node.get_move() for node in ours.get_main_sequence()] == [n.get_move() for n in game.get_main_sequence()]
    if not same or ours.get_root().get("PB") != root.get("PB") or ours.get_charset() != "UTF-8":
        sys.exit(f"{again}: not the game of {path}")
    record = os.path.join(folder, "ours.qiyou")
    run(engine, "convert", path, record)
    fresh = os.path.join(folder, "fresh.sgf")
    run(engine, "convert", record, fresh)
    with open(fresh, "rb") as file:
        ours = sgf.Sgf_game.from_bytes(file.read())
    moved = [n.get_move() for n in ours.get_main_sequence() if n.get_move()[0]]
    if moved != [n.get_move() for n in game.get_main_sequence() if n.get_move()[0]]:
        sys.exit(f"{fresh}: not the moves of {path}")
    return len(moves)


def board_points(size):
    return [(row, column) for row in range(size) for column in range(size)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine")
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        plies = sum(
            play(arguments.engine, folder, (5, 9, 13)[n % 3], arguments.seed + n) for n in range(arguments.games)
        )
    print(f"{arguments.games} games, {plies} moves: the same boards, scores and files")


if __name__ == "__main__":
    main()
