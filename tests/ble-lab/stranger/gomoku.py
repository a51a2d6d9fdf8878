"""Gomoku's rules: freestyle and standard, with the free opening.

    python3 gomoku.py FILE    plays the positions of engine/tests/rules.txt that are of these rules, and compares their results
"""

import sys

from messages import BOARD_FULL, FIRST, FIVE_IN_A_ROW, FREE_OPENING, FREESTYLE, SECOND, STANDARD, GomokuSetup, Setup
from records import other

RULES = {"freestyle": FREESTYLE, "standard": STANDARD}
DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))


class Illegal(ValueError):
    """An illegal action."""


def is_known(setup):
    """Whether this program supports a setup of `board.proto`."""
    gomoku = setup and setup.gomoku
    return bool(gomoku) and 5 <= gomoku.size <= 20 and gomoku.rule in RULES.values() and gomoku.opening == FREE_OPENING


class Position:
    def __init__(self, setup):
        self.setup = setup.gomoku
        self.stones = {}
        self.turn = FIRST
        # (winner, ending) by the rules; winner 0 is a draw.
        self.result = None

    @staticmethod
    def after(setup, actions):
        position = Position(setup)
        for action in actions:
            position.play(action)
        return position

    def play(self, action):
        self.check(action)
        _, *point = action
        point = tuple(point)
        self.stones[point] = self.turn
        if any(self._wins(self._line(point, direction)) for direction in DIRECTIONS):
            self.result = (self.turn, FIVE_IN_A_ROW)
        elif len(self.stones) == self.setup.size**2:
            self.result = (0, BOARD_FULL)
        self.turn = other(self.turn)

    def check(self, action):
        if self.result:
            raise Illegal("the game is over")
        word, *point = action
        if word != "place" or not all(0 <= at < self.setup.size for at in point) or tuple(point) in self.stones:
            raise Illegal(f"{action} is not legal")

    def _line(self, point, direction):
        """The stones of one colour in a line through a point."""
        line = [point]
        for step in (1, -1):
            column, row = point
            while self.stones.get(at := (column + step * direction[0], row + step * direction[1])) == self.turn:
                line.append(at)
                column, row = at
        return line

    def _wins(self, line):
        long_enough = len(line) >= 5 if self.setup.rule == FREESTYLE else len(line) == 5
        return long_enough and (self.setup.edge_five_wins or not self._on_edge(line))

    def _on_edge(self, line):
        edge = (0, self.setup.size - 1)
        return any(len({point[by] for point in line}) == 1 and line[0][by] in edge for by in (0, 1))


def point_named(name):
    """`h8`; columns are letters from `a` without gaps, rows count from the bottom."""
    return ["place", ord(name[0]) - ord("a"), int(name[1:]) - 1]


def name_of(action):
    return f"{chr(ord('a') + action[1])}{action[2] + 1}"


def main():
    count = 0
    for line in open(sys.argv[1], encoding="utf-8"):
        game, options, moves, result, *_ = [part.strip() for part in line.split("|")] + [""] * 4
        if game != "gomoku":
            continue
        size, rule, *more = options.split()
        if rule not in RULES or set(more) - {"no-edge"}:
            continue
        setup = Setup(gomoku=GomokuSetup(size=int(size), rule=RULES[rule], edge_five_wins="no-edge" not in more))
        position = Position.after(setup, map(point_named, moves.split()))
        here = {None: "open", 0: "draw", FIRST: "first", SECOND: "second"}[position.result and position.result[0]]
        if here != result.split()[0]:
            sys.exit(f"{line.strip()}: here it is {here}")
        count += 1
    if count == 0:
        sys.exit("no position of gomoku's was compared")
    print(f"gomoku: {count} positions have the results of {sys.argv[1]}")


if __name__ == "__main__":
    main()
