"""The messages of proto/schema/peer.proto and board.proto as tables, with the bounds of docs/protocol.md, section 9.

Each class is a message; its table has each field's number and kind, sorted by number. `encode` omits default values, as proto3
does, so that equal messages have equal bytes; a member of a oneof is `None` if unset, and written if set, even if it is 0. `decode`
raises `ValueError` for everything that the description does not allow.
"""

import struct

import wire

UINT, BOOL, FIXED64, BYTES, TEXT, UINTS = "uint", "bool", "fixed64", "bytes", "text", "uints"
WIRE_TYPES = {UINT: wire.VARINT, BOOL: wire.VARINT, FIXED64: wire.FIXED64}
DEFAULTS = {UINT: 0, BOOL: False, FIXED64: 0, BYTES: b"", TEXT: ""}

# Larger numbers make a message invalid.
MOST_PLIES = 1024
MOST_REVISIONS = 1_000_000
MOST_POINTS = 1 << 20
LARGEST_U32 = (1 << 32) - 1


class Field:
    def __init__(self, number, kind, *, oneof=False, many=False, most=None, lengths=None):
        self.number, self.kind = number, kind
        # A member of a oneof: absent unless set.
        self.oneof = oneof
        # A repeated message.
        self.many = many
        # Maximum value, or maximum length of a list.
        self.most = most
        # Maximum length of bytes.
        self.lengths = lengths

    def is_message(self):
        return isinstance(self.kind, type)

    def default(self):
        if self.many or self.kind is UINTS:
            return []
        return None if self.oneof or self.is_message() else DEFAULTS[self.kind]

    def write(self, value):
        if self.many:
            return b"".join(wire.field(self.number, one.encode()) for one in value)
        if value == self.default():
            return b""
        if self.is_message():
            return wire.field(self.number, value.encode())
        if self.kind is FIXED64:
            return wire.varint(self.number << 3 | wire.FIXED64) + struct.pack("<Q", value)
        if self.kind is UINTS:
            return wire.field(self.number, b"".join(map(wire.varint, value)))
        return wire.field(self.number, int(value) if self.kind is BOOL else value)

    def read(self, wire_type, value, before):
        if self.kind is UINTS:
            # Unpacked encoding is allowed too.
            return before + ([value] if wire_type == wire.VARINT else read_varints(value))
        if wire_type != WIRE_TYPES.get(self.kind, wire.LENGTH):
            raise ValueError(f"wire type {wire_type}")
        if self.is_message():
            one = self.kind.decode(value)
            return before + [one] if self.many else one
        if self.kind is FIXED64:
            return struct.unpack("<Q", value)[0]
        if self.kind is TEXT:
            return value.decode()
        return bool(value) if self.kind is BOOL else value

    def check(self, value):
        if self.kind is UINT and value is not None and value > (LARGEST_U32 if self.most is None else self.most):
            raise ValueError(f"{value} is too large")
        if (self.many or self.kind is UINTS) and self.most is not None and len(value) > self.most:
            raise ValueError(f"{len(value)} are too many")
        if self.kind is BYTES and value is not None and self.lengths is not None and len(value) not in self.lengths:
            raise ValueError(f"{len(value)} bytes")


def read_varints(data):
    out, at = [], 0
    while at < len(data):
        value, at = wire.read_varint(data, at)
        out.append(value)
    return out


class Message:
    """Base class. `NUMBER` is the frame's msgid, for messages that are sent as frames."""

    NUMBER = None
    FIELDS = {}

    def __init__(self, **values):
        for name, field in self.FIELDS.items():
            setattr(self, name, values.pop(name, field.default()))
        if values:
            raise TypeError(f"{type(self).__name__} has no {', '.join(values)}")

    def encode(self):
        return b"".join(field.write(getattr(self, name)) for name, field in self.FIELDS.items())

    @classmethod
    def decode(cls, data):
        message, names = cls(), {field.number: name for name, field in cls.FIELDS.items()}
        for number, wire_type, value in wire.typed_fields(data):
            # Unknown fields of a later version are skipped.
            if name := names.get(number):
                read = cls.FIELDS[name].read(wire_type, value, getattr(message, name))
                if cls.FIELDS[name].oneof:
                    # The last member of a oneof counts.
                    message._clear(name)
                setattr(message, name, read)
        for name, field in cls.FIELDS.items():
            field.check(getattr(message, name))
        message.check()
        return message

    def _clear(self, name):
        for other in self.oneof():
            setattr(self, other, None)

    @classmethod
    def oneof(cls):
        """The members of the message's only oneof."""
        return [name for name, field in cls.FIELDS.items() if field.oneof]

    def which(self):
        """The member of the oneof that is set, or `None`."""
        return next((name for name in self.oneof() if getattr(self, name) is not None), None)

    def check(self):
        """Checks beyond the table."""

    def __eq__(self, other):
        return type(self) is type(other) and vars(self) == vars(other)

    def __repr__(self):
        told = (f"{name}={getattr(self, name)!r}" for name, field in self.FIELDS.items() if getattr(self, name) != field.default())
        return f"{type(self).__name__}({', '.join(told)})"


def an_id(number):
    return Field(number, BYTES, lengths=(16,))


def ply(number):
    return Field(number, UINT, most=MOST_PLIES)


def revision(number):
    return Field(number, UINT, most=MOST_REVISIONS)


# board.proto, as far as gomoku needs it.

FIRST, SECOND = 1, 2
GOMOKU = 1
FREESTYLE, STANDARD, RENJU = 0, 1, 2
FREE_OPENING, SWAP2 = 0, 1
FIVE_IN_A_ROW, BOARD_FULL = 1, 2
RESIGNED, DRAW_AGREED, TIME = 32, 33, 34
# Other values make a record invalid; 35, abandoned, is not accepted from a peer.
ENDINGS = {*range(1, 19), RESIGNED, DRAW_AGREED, TIME}


class Step(Message):
    FIELDS = {"from_": Field(1, UINT, most=MOST_POINTS - 1), "to": Field(2, UINT, most=MOST_POINTS - 1)}


class Action(Message):
    FIELDS = {
        "place": Field(1, UINT, oneof=True, most=MOST_POINTS - 1),
        "step": Field(2, Step, oneof=True),
        "capture": Field(3, UINT, oneof=True, most=MOST_POINTS - 1),
        "pass_": Field(4, BOOL, oneof=True),
        "press": Field(5, UINT, oneof=True, most=MOST_POINTS - 1),
        "toggle": Field(6, UINT, oneof=True, most=MOST_POINTS - 1),
        "agree": Field(7, BOOL, oneof=True),
        "resume": Field(8, BOOL, oneof=True),
        "choose": Field(9, UINT, oneof=True, most=13),
        "done": Field(10, UINT, oneof=True, most=25_920_000),
    }


class GomokuSetup(Message):
    FIELDS = {
        "size": Field(1, UINT),
        "rule": Field(2, UINT),
        "edge_five_wins": Field(3, BOOL),
        "opening": Field(4, UINT),
    }


class Setup(Message):
    """Other games are unknown here: their setups have no game."""

    FIELDS = {"gomoku": Field(1, GomokuSetup, oneof=True)}


class Pace(Message):
    FIELDS = {"kind": Field(1, UINT), "main_s": Field(2, UINT), "step_s": Field(3, UINT), "periods": Field(4, UINT)}


class Result(Message):
    FIELDS = {"winner": Field(1, UINT, most=2), "ending": Field(2, UINT)}

    def check(self):
        if self.ending not in ENDINGS:
            raise ValueError(f"ending {self.ending}")


# peer.proto.


def is_name(text):
    """At most 32 characters and 128 bytes; no control characters, no bidirectional formatting characters."""
    turning = {0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A)}
    controls = any(ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0 for char in text)
    return len(text) <= 32 and len(text.encode()) <= 128 and not controls and turning.isdisjoint(map(ord, text))


class ResumePoint(Message):
    FIELDS = {
        "match_id": an_id(1),
        "ply": ply(2),
        "digest": Field(3, FIXED64),
        "revision": revision(4),
        "result": Field(5, Result),
        "paused": Field(6, BOOL),
        "spent_ms": Field(7, UINT),
    }


class Hello(Message):
    NUMBER = 1
    FIELDS = {
        "lowest_version": Field(1, UINT),
        "highest_version": Field(2, UINT),
        "name": Field(3, TEXT),
        "games": Field(4, UINTS, most=32),
        "advert_key": Field(5, BYTES, lengths=(0, 32)),
        "matches": Field(6, ResumePoint, many=True, most=12),
        "wants_comparison": Field(7, BOOL),
        "wish": Field(8, UINT),
    }

    def check(self):
        if not is_name(self.name) or len({point.match_id for point in self.matches}) < len(self.matches):
            raise ValueError("a hello with a bad name, or a match that is told twice")


class Verdict(Message):
    FIELDS = {"same": Field(1, BOOL), "advert_key": Field(2, BYTES, lengths=(0, 32))}

    def check(self):
        if self.same and not self.advert_key:
            raise ValueError("a yes without the advert key")


class Pair(Message):
    NUMBER = 2
    FIELDS = {
        "commitment": Field(1, BYTES, oneof=True, lengths=(32,)),
        "nonce": Field(2, BYTES, oneof=True, lengths=(32,)),
        "reveal": Field(3, BYTES, oneof=True, lengths=(32,)),
        "verdict": Field(4, Verdict, oneof=True),
    }

    def check(self):
        if self.which() is None:
            raise ValueError("no step")


INVITER_FIRST, INVITER_SECOND, DRAWN = 0, 1, 2


class Invite(Message):
    NUMBER = 3
    FIELDS = {
        "invite_id": an_id(1),
        "setup": Field(2, Setup),
        "colours": Field(3, UINT, most=DRAWN),
        "pace": Field(4, Pace),
        "commitment": Field(5, BYTES, lengths=(0, 32)),
        "counters": Field(6, BYTES, lengths=(0, 16)),
        "alternates": Field(7, BOOL),
    }


NOT_NOW, BUSY, TIMED_OUT, UNKNOWN_GAME, BLOCKED, OTHER_GAME, OTHER_RULES, LATER = range(1, 9)


class InviteAnswer(Message):
    NUMBER = 4
    FIELDS = {
        "invite_id": an_id(1),
        "accept": Field(2, BOOL, oneof=True),
        "decline": Field(3, UINT, oneof=True),
        "nonce": Field(4, BYTES, lengths=(0, 32)),
        "account": Field(5, TEXT),
    }


class Withdraw(Message):
    NUMBER = 5
    FIELDS = {"invite_id": an_id(1)}


class Play(Message):
    NUMBER = 6
    FIELDS = {
        "match_id": an_id(1),
        "ply": ply(2),
        "action": Field(3, Action),
        "thought_ms": Field(4, UINT),
        "digest": Field(5, FIXED64),
        "revision": revision(6),
        "spent_ms": Field(7, UINT),
    }


class Ack(Message):
    NUMBER = 7
    FIELDS = {
        "match_id": an_id(1),
        "ply": ply(2),
        "digest": Field(3, FIXED64),
        "revision": revision(4),
        "result": Field(5, Result),
        "wants_rest": Field(6, BOOL),
        "paused": Field(7, BOOL),
        "spent_ms": Field(8, UINT),
    }


TAKE_BACK, DRAW, NEW_GAME, PAUSE, CONTINUE, ADJOURN, NEW_GAME_SAME = range(1, 8)


class Offer(Message):
    NUMBER = 8
    FIELDS = {
        "match_id": an_id(1),
        "offer_id": Field(2, UINT),
        "kind": Field(3, UINT),
        "ply": ply(4),
        "to_ply": ply(5),
        "revision": revision(6),
    }


class OfferAnswer(Message):
    NUMBER = 9
    FIELDS = {
        "match_id": an_id(1),
        "offer_id": Field(2, UINT),
        "accept": Field(3, BOOL),
        "ply": ply(4),
        "revision": revision(5),
    }


class Resign(Message):
    NUMBER = 10
    FIELDS = {"match_id": an_id(1), "ply": ply(2), "revision": revision(3)}


class Record(Message):
    NUMBER = 11
    FIELDS = {
        "match_id": an_id(1),
        "setup": Field(2, Setup),
        "sender_side": Field(3, UINT, most=SECOND),
        "revision": Field(4, UINT, most=86_400),
        "actions": Field(5, BYTES, lengths=range(7169)),
        "result": Field(6, Result),
        "pace": Field(7, Pace),
        "times": Field(8, BYTES, lengths=range(5121)),
        "paused": Field(9, BOOL),
        "reveal": Field(10, BYTES, lengths=(0, 32)),
        "spent_ms": Field(11, UINT),
        "account": Field(13, TEXT),
    }


class Ping(Message):
    NUMBER = 12
    # A uint64, the only number here that may exceed 32 bits.
    FIELDS = {"token": Field(1, UINT, most=(1 << 64) - 1)}


class Pong(Message):
    NUMBER = 13
    FIELDS = {"token": Field(1, UINT, most=(1 << 64) - 1)}


LEAVING, VERSION, BLOCKED_BYE, VIOLATION, STRINGS_DIFFER, SUSPEND, REPLACED, SILENT, NOT_COMPARED = range(1, 10)


class Bye(Message):
    NUMBER = 14
    FIELDS = {"reason": Field(1, UINT)}


class Unsupported(Message):
    NUMBER = 15
    FIELDS = {"msgid": Field(1, UINT)}


class Reveal(Message):
    NUMBER = 18
    FIELDS = {"invite_id": an_id(1), "nonce": Field(2, BYTES, lengths=(32,))}


# Messages that are accepted and ignored: chat, flags, analysis, races and gifts.
PASSED_OVER = {16, 17, 19, 20, 21, 22}
BY_NUMBER = {one.NUMBER: one for one in Message.__subclasses__() if one.NUMBER}
