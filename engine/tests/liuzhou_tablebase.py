#!/usr/bin/env python3
"""Checks Liuzhou chess's tablebase against a second implementation, written from the rules page in another language.

    python liuzhou_tablebase.py path/to/qiyou-engine FOLDER [--loses-at 2] [--positions 3000] [--seed 1]

Samples positions, probes `qiyou-engine tablebase --ask` for each and for all its successors, and checks that the position's value
follows from theirs; half of the positions have stones close together, where most results are decisive. FOLDER contains the table;
if the table does not exist, it is computed.
"""

import argparse
import random
import subprocess
import sys

SIZE = 6
POINTS = [(column, row) for row in range(SIZE) for column in range(SIZE)]


def formations(stones):
    """The formations of this number of stones: squares, and diagonals of three and four with both ends on the edge."""
    found = []
    for column in range(SIZE - 1):
        for row in range(SIZE - 1):
            found.append({(column, row), (column + 1, row), (column, row + 1), (column + 1, row + 1)})
    for sum_ in range(2 * SIZE - 1):
        found.append({(column, sum_ - column) for column in range(SIZE) if 0 <= sum_ - column < SIZE})
    for difference in range(1 - SIZE, SIZE):
        found.append({(column, column - difference) for column in range(SIZE) if 0 <= column - difference < SIZE})
    return [points for points in found if 3 <= len(points) <= stones]


def line(own, other):
    """The position in the engine's notation, with Black to move."""
    rows = []
    for row in reversed(range(SIZE)):
        cells = ["b" if (c, row) in own else "w" if (c, row) in other else "1" for c in range(SIZE)]
        text = "".join(cells)
        for run in range(SIZE, 1, -1):
            text = text.replace("1" * run, str(run))
        rows.append(text)
    return "/".join(rows) + " b m 0 0 0"


def steps(own, other):
    """All sets of own stones after a step, each with the destination."""
    for column, row in sorted(own):
        for to in ((column + 1, row), (column - 1, row), (column, row + 1), (column, row - 1)):
            if 0 <= to[0] < SIZE and 0 <= to[1] < SIZE and to not in own and to not in other:
                yield frozenset(own - {(column, row)} | {to}), to


def draw(rng, stones):
    if rng.random() < 0.5:
        points = rng.sample(POINTS, 2 * stones)
    else:
        left, bottom = rng.randrange(SIZE - 3), rng.randrange(SIZE - 3)
        near = [(c, r) for c, r in POINTS if left <= c <= left + 3 and bottom <= r <= bottom + 3]
        points = rng.sample(near, 2 * stones)
    return frozenset(points[:stones]), frozenset(points[stones:])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("engine")
    parser.add_argument("folder")
    parser.add_argument("--loses-at", type=int, default=3)
    parser.add_argument("--positions", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    stones = arguments.loses_at + 1
    known = formations(stones)
    assert len(known) == (25 + 4 + 4 if stones == 4 else 4)
    rng = random.Random(arguments.seed)
    asked, cases = [], []
    for _ in range(arguments.positions):
        own, other = draw(rng, stones)
        after = list(steps(own, other))
        if not after:
            continue  # Who is blocked removes a stone, and has won: no step is due, and the table is not asked.
        captures = any(to in made and made <= stand for stand, to in after for made in known)
        # A side that the step has blocked is not in the table either: it removes a stone and wins.
        blocks = [not any(steps(other, stand)) for stand, _ in after]
        first = len(asked)
        asked.append(line(own, other))
        if not captures:
            asked += [line(other, stand) for (stand, _), block in zip(after, blocks) if not block]
        cases.append((first, captures, sum(blocks)))
    command = [arguments.engine, "tablebase", "--folder", arguments.folder, "--loses-at", str(arguments.loses_at), "--ask"]
    answers = subprocess.run(command, input="\n".join(asked) + "\n", stdout=subprocess.PIPE, text=True, check=True)
    answers = answers.stdout.splitlines()
    assert len(answers) == len(asked)
    ends = [first for first, _, _ in cases[1:]] + [len(asked)]
    seen, wrong = {}, 0
    for (first, captures, blocks), end in zip(cases, ends):
        wins, losses, drawn = [], [2] * blocks, False
        for answer in answers[first + 1 : end]:
            word, *plies = answer.split()
            if word == "won":
                losses.append(int(plies[0]) + 1)
            elif word == "lost":
                wins.append(int(plies[0]) + 1)
            elif word == "drawn":
                drawn = True
            else:
                wrong += 1
                print(f"{asked[first]}: {answer}")
        if captures:
            expected = "won 1"
        elif wins:
            expected = f"won {min(wins)}"
        elif drawn:
            expected = "drawn"
        else:
            expected = f"lost {max(losses)}"
        # A win or loss that takes more than 60 plies without a capture is a draw.
        if expected != "drawn" and int(expected.split()[1]) > 60:
            expected = "drawn"
        if answers[first] != expected:
            wrong += 1
            print(f"{asked[first]}: {answers[first]}, expected {expected}")
        seen[answers[first].split()[0]] = seen.get(answers[first].split()[0], 0) + 1
    print(f"{len(cases)} positions and {len(asked) - len(cases)} one step on: {seen}, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
