"""The bytes of Qiyou's protocol, written a second time from its description.

Fragments (what one GATT write or notification holds), frames (20 bytes before each message) and the few protobuf messages of a
first meeting. Nothing here was generated from, linked with or copied from the Rust code: where the two disagree, one of them is
not what the documents say.
"""

import struct
import zlib
from dataclasses import dataclass

# Fragments.

VERSION = 1
OPENER, ACCEPTER = 1, 2
DATA, ACK, END, PROBE, RESET = 0x40, 0x50, 0x60, 0x70, 0x80
# Bytes of a numbered fragment around its payload: header of 11, check of 4.
AROUND = 15
# No side sends or takes more at once.
LARGEST = 496
# Four bits count the fragments that a side can take, in fours.
FULL_ROOM = 15


def _sealed(body, secret=b""):
    return body + struct.pack(">I", zlib.crc32(secret + body))


def _unsealed(value, secret=b""):
    body, check = value[:-4], value[-4:]
    return body if len(check) == 4 and struct.pack(">I", zlib.crc32(secret + body)) == check else None


def opening(nonce, limit, version=VERSION):
    return _sealed(struct.pack(">BBIH", 0x10, version, nonce, limit))


def read_opening(value):
    """The version, the opener's nonce and the longest fragment it can send."""
    body = _unsealed(value)
    return struct.unpack(">BIH", body[1:]) if body and len(body) == 8 and body[0] == 0x10 else None


def accepting(opener_nonce, own_nonce, limit):
    return _sealed(struct.pack(">BBIIH", 0x20, VERSION, opener_nonce, own_nonce, limit))


def read_accepting(value):
    """The version, both nonces and the longest fragment that the accepter can send."""
    body = _unsealed(value)
    return struct.unpack(">BIIH", body[1:]) if body and len(body) == 12 and body[0] == 0x20 else None


def read_refusal(value):
    body = _unsealed(value)
    return struct.unpack(">I", body[2:])[0] if body and len(body) == 6 and body[0] == 0x30 else None


@dataclass
class Fragment:
    kind: int
    number: int
    ack: int
    also: int = 0
    payload: bytes = b""

    def pack(self, nonces, sender):
        header = (self.kind | FULL_ROOM, self.number, self.ack, self.also, len(self.payload))
        return _sealed(struct.pack(">BHHIH", *header) + self.payload, _secret(nonces, sender))

    @staticmethod
    def read(value, nonces, sender):
        body = _unsealed(value, _secret(nonces, sender))
        if body is None or len(body) < 11:
            return None
        first, number, ack, also, length = struct.unpack(">BHHIH", body[:11])
        if length != len(body) - 11:
            return None
        return Fragment(first & 0xF0, number, ack, also, body[11:])


def _secret(nonces, sender):
    return struct.pack(">IIB", *nonces, sender)


# Frames.

MAGIC = 0x98765432
FRAME_VERSION = 1
HEADER = struct.Struct(">IIIII")

HELLO, PAIR, PING, PONG, BYE, UNSUPPORTED = 1, 2, 12, 13, 14, 15
BYE_LEAVING, BYE_VERSION, BYE_VIOLATION, BYE_STRINGS_DIFFER = 1, 2, 4, 5


def frame(msgid, seqnum, payload, magic=MAGIC):
    return HEADER.pack(magic, HEADER.size + len(payload), msgid, seqnum, FRAME_VERSION) + payload


# What the description itself gives as an example.
assert frame(7, 1, bytes.fromhex("0a03414243")).hex() == "987654320000001900000007000000010000000" + "10a03414243"


# Messages: as much of protobuf's encoding as a hello and a comparison need.


def _varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def field(number, value):
    """A field that holds a number, a text or bytes."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    value = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    """A message as a list of (number, value)."""
    out, at = [], 0
    while at < len(data):
        key, at = _read_varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = _read_varint(data, at)
        elif kind in (1, 5):
            length = 8 if kind == 1 else 4
            value, at = data[at : at + length], at + length
        else:
            length, at = _read_varint(data, at)
            value, at = data[at : at + length], at + length
        out.append((key >> 3, value))
    return out


def hello(name, lowest=1, highest=1):
    # Plays gomoku, does not know the other's key.
    return field(1, lowest) + field(2, highest) + field(3, name) + field(4, b"\x01") + field(7, 1)


def read_hello(payload):
    known = dict(fields(payload))
    return {
        "lowest_version": known.get(1, 0),
        "highest_version": known.get(2, 0),
        "name": known.get(3, b"").decode(),
        "games": list(known.get(4, b"")),
        "advert_key": known.get(5, b"").hex(),
        "matches": sum(number == 6 for number, _ in fields(payload)),
        "wants_comparison": bool(known.get(7, 0)),
    }


VERDICT = 4


def verdict(same, advert_key):
    return field(VERDICT, field(1, int(same)) + field(2, advert_key))
