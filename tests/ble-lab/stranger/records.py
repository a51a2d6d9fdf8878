"""The parts of a match: actions, packed and as messages; the digest of a record; random colours.

An action is a list: its word, then points as column and row, or a number: `["place", 7, 7]`, `["step", 4, 0, 4, 1]`, `["pass"]`.
See docs/protocol.md, sections 11, 12 and 14.
"""

import hashlib
import struct
from typing import NamedTuple

import wire
from messages import FIRST, SECOND, Action

# Kinds with a point or without one.
KINDS = {"place": 0, "step": 1, "capture": 2, "pass": 3, "press": 4, "toggle": 5, "agree": 6, "resume": 7}
WORDS = {kind: word for word, kind in KINDS.items()}
WITHOUT_POINT = ("pass", "agree", "resume")
LONGEST_DONE = 25_920_000


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def interleaved(column, row):
    return sum((column >> bit & 1) << 2 * bit | (row >> bit & 1) << 2 * bit + 1 for bit in range(10))


def point_of(z):
    if z >= 1 << 20:
        raise ValueError("a point outside every board")
    return [sum((z >> 2 * bit + by & 1) << bit for bit in range(10)) for by in (0, 1)]


def packed(action):
    word, *rest = action
    if word == "choose":
        # A number of fifth moves, 4 for one to 13 for ten, is packed with resume.
        return wire.varint(3 + 8 * rest[0] if rest[0] < 4 else 7 + 8 * (rest[0] - 3))
    if word == "done":
        return wire.varint(3 + 8 * (4 + rest[0]))
    if word in WITHOUT_POINT:
        return wire.varint(KINDS[word])
    out = wire.varint(KINDS[word] + 8 * interleaved(*rest[:2]))
    return out + wire.varint(interleaved(*rest[2:])) if word == "step" else out


def unpacked(data):
    """Unpacks a sequence of actions. `ValueError` for invalid bytes, or a form that is not the shortest."""
    out, at = [], 0
    while at < len(data):
        value, at = wire.read_varint(data, at)
        word, z = WORDS[value & 7], value >> 3
        if word == "pass":
            action = ["pass"] if z == 0 else ["choose", z] if z < 4 else ["done", z - 4]
            if action[0] == "done" and action[1] > LONGEST_DONE:
                raise ValueError(f"done after {action[1]}")
        elif word == "resume" and 1 <= z <= 10:
            action = ["choose", z + 3]
        elif word in WITHOUT_POINT:
            if z:
                raise ValueError(f"{word} has no point")
            action = [word]
        else:
            action = [word, *point_of(z)]
            if word == "step":
                end, at = wire.read_varint(data, at)
                action += point_of(end)
        out.append(action)
    if b"".join(map(packed, out)) != data:
        raise ValueError("not the shortest form")
    return out


def as_message(action):
    """As in a Play."""
    word, *rest = action
    if word != "place":
        raise ValueError(f"gomoku has no {word}")
    return Action(place=rest[1] * 1024 + rest[0])


def of_message(message):
    if message is None or message.which() != "place":
        raise ValueError("no action of gomoku's")
    return ["place", message.place % 1024, message.place // 1024]


def digest(setup, actions):
    """The digest of a record with these actions; `setup` is a `board.Setup` in protobuf."""
    chain = sha256(b"qiyou record 1", setup)
    for action in actions:
        chain = sha256(chain, packed(action))
    return int.from_bytes(chain[:8], "big")


class Standing(NamedTuple):
    """Summary of a record, as in a hello, an Ack and a Record."""

    revision: int
    ply: int
    digest: int
    result: tuple | None
    paused: bool


# Random colours by commit and reveal.


def commitment(nonce):
    return sha256(nonce)


def inviter_side(invite_id, inviter, invited):
    """The inviter's side, from the two nonces."""
    return SECOND if sha256(b"qiyou colours 1", invite_id, inviter, invited)[31] & 1 else FIRST


def lights_seed(invite_id, inviter, invited):
    return int.from_bytes(sha256(b"qiyou lights 1", invite_id, inviter, invited)[:4], "big") or 1


def next_id(match_id, revision, *, swapped):
    """The id of the game after this one."""
    word = b"qiyou new game 1" if swapped else b"qiyou same game 1"
    return sha256(word, match_id, struct.pack(">I", revision))[:16]


def other(side):
    return FIRST + SECOND - side
