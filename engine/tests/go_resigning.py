#!/usr/bin/env python3
"""Checks that the engine resigns only lost games.

The engine plays against itself. A resignation is recorded, and the game continues without resigning up to the count, which
shows whether the resignation was right.

    cargo build --release -p engine --bin qiyou-engine
    engine/tests/go_resigning.py target/release/qiyou-engine --size 19 --games 20 --playouts 400

Fails if a side resigned a game that it won in the end.
"""
import argparse
import random
import subprocess
import sys

LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine", help="qiyou-engine")
    parser.add_argument("--size", type=int, default=19)
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--playouts", type=int, default=400)
    parser.add_argument("--handicap", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    size = arguments.size
    given_up = wrong = early = 0
    for number in range(arguments.games):
        command = [arguments.engine, "gtp", "--playouts", str(arguments.playouts), "--seed", str(rng.randrange(1 << 30))]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:

            def ask(line):
                program.stdin.write(line + "\n")
                program.stdin.flush()
                answer = program.stdout.readline()
                rest = answer
                while rest.strip():
                    rest = program.stdout.readline()
                if not answer.startswith("="):
                    raise RuntimeError(f"{line}: {answer}")
                return answer[1:].strip()

            for line in (f"boardsize {size}", "clear_board", "komi 7.5"):
                ask(line)
            colours = "bw"
            moves = passes = 0
            if arguments.handicap:
                ask(f"fixed_handicap {arguments.handicap}")
                colours = "wb"
            else:
                column, row = rng.randrange(2, size - 2), rng.randrange(2, size - 2)
                ask(f"play b {LETTERS[column]}{row + 1}")
                moves = 1
            loser = at = None
            while passes < 2 and moves < 3 * size * size:
                colour = colours[moves % 2]
                move = ask(f"{'genmove' if loser is None else 'kgs-genmove_cleanup'} {colour}")
                if move == "resign":
                    loser, at = colour, moves
                    continue
                moves += 1
                passes = passes + 1 if move.lower() == "pass" else 0
            score = ask("final_score")
            ask("quit")
        if loser:
            given_up += 1
            was_wrong = score[0].lower() == loser
            wrong += was_wrong
            early += at
            print(f"game {number}: {loser} resigns after {at} of {moves} moves, the count is {score}{': WRONG' if was_wrong else ''}")
        else:
            print(f"game {number}: counted after {moves} moves, {score}")
        sys.stdout.flush()
    after = f", after {early / given_up:.0f} moves on average" if given_up else ""
    print(f"{arguments.games} games on {size}x{size}, {given_up} given up{after}; {wrong} of them wrongly")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
