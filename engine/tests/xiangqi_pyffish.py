#!/usr/bin/env python3
"""Random games of xiangqi, compared move by move with pyffish (PyPI), and perft with Fairy-Stockfish.

    python -m venv venv && venv/bin/pip install pyffish
    cargo build --release -p engine --bin qiyou-engine
    venv/bin/python engine/tests/xiangqi_pyffish.py target/release/qiyou-engine [--games 20] [--plies 300]
        [--fairy /usr/games/fairy-stockfish --depth 5]

Not part of `make test`, because it needs packages that the build does not need. Compares the legal moves and mate or stalemate;
repetition is tested in the rules' own tests, because the two rule sets differ there.
"""
import argparse
import random
import subprocess
import sys
import time

import pyffish


def legal(engine, fen):
    text = subprocess.run([engine, "legal", "--game", "xiangqi", "--position", fen], capture_output=True, text=True)
    if text.returncode != 0:
        sys.exit(f"{fen}: {text.stderr}")
    # ICCS counts ranks from 0, Fairy-Stockfish from 1.
    return {f"{m[0]}{int(m[1]) + 1}{m[2]}{int(m[3]) + 1}" for m in text.stdout.split()}


def bare(fen):
    """Whether no piece can cross the river: our rules then end the game, pyffish's do not."""
    return not set("rnchp") & set(fen.split()[0].lower())


def play(engine, plies, seed):
    chooser = random.Random(seed)
    moves, checked = [], 0
    start = pyffish.start_fen("xiangqi")
    for _ in range(plies):
        fen = pyffish.get_fen("xiangqi", start, moves)
        if bare(fen):
            break
        # The ply and move counters, by which our games can end, are not compared.
        ours = legal(engine, " ".join(fen.split()[:2]))
        theirs = set(pyffish.legal_moves("xiangqi", start, moves))
        if ours != theirs:
            sys.exit(f"{fen}\n  only ours: {sorted(ours - theirs)}\n  only theirs: {sorted(theirs - ours)}")
        checked += 1
        if not theirs:
            break
        moves.append(chooser.choice(sorted(theirs)))
    return checked


def perft(command, text=None):
    begin = time.monotonic()
    output = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    return int(output.split()[-1]), time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine")
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--plies", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fairy")
    parser.add_argument("--depth", type=int, default=5)
    arguments = parser.parse_args()
    checked = sum(play(arguments.engine, arguments.plies, arguments.seed + n) for n in range(arguments.games))
    print(f"{arguments.games} games, {checked} positions: the same legal moves")
    if arguments.fairy:
        script = f"setoption name UCI_Variant value xiangqi\nposition startpos\ngo perft {arguments.depth}\nquit\n"
        theirs, their_time = perft([arguments.fairy], script)
        ours, our_time = perft([arguments.engine, "perft", "--game", "xiangqi", "--depth", str(arguments.depth)])
        if ours != theirs:
            sys.exit(f"perft {arguments.depth}: ours {ours}, theirs {theirs}")
        print(f"perft {arguments.depth} = {ours}: {our_time:.2f} s to {their_time:.2f} s, {their_time / our_time:.2f} times as fast")


if __name__ == "__main__":
    main()
