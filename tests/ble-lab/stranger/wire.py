"""The encodings of Qiyou's protocol, a second implementation from its description.

Fragments (what one GATT write or notification holds), frames (20 bytes before each message), protobuf's encoding and, by hand, the
hello and the verdict of strangers who want no more; all messages are in messages.py. Nothing here was generated from, linked with or
copied from the Rust code: where the two disagree, one of them is not what the documents say.
"""

import struct
import zlib
from dataclasses import dataclass

# Fragments.

VERSION = 2
OPENER, ACCEPTER = 1, 2
DATA, ACK, END, PROBE, RESET = 0x40, 0x50, 0x60, 0x70, 0x80
# Flag in the kind byte: four bytes of SACK follow the header.
WITH_SACK = 0x80
# Overhead of a numbered fragment: header of 5, CRC of 4; here SACK is only sent without a payload.
AROUND = 9
# Maximum number of fragments in flight.
LARGEST = 496
# The four-bit receive window counts in units of four fragments.
FULL_ROOM = 15


def _sealed(body, secret=b""):
    return body + struct.pack(">I", zlib.crc32(secret + body))


def _unsealed(value, secret=b""):
    body, check = value[:-4], value[-4:]
    return body if len(check) == 4 and struct.pack(">I", zlib.crc32(secret + body)) == check else None


def opening(nonce, limit, version=VERSION):
    return _sealed(struct.pack(">BBBIH", 0x10, version, version, nonce, limit))


def read_opening(value):
    """The lowest and the highest version, the opener's nonce and the longest fragment it can send. What follows is of a later
    version."""
    body = _unsealed(value)
    return struct.unpack(">BBIH", body[1:9]) if body and len(body) >= 9 and body[0] == 0x10 else None


def accepting(opener_nonce, own_nonce, limit):
    return _sealed(struct.pack(">BBIIH", 0x20, VERSION, opener_nonce, own_nonce, limit))


def read_accepting(value):
    """The version, both nonces and the longest fragment that the accepter can send."""
    body = _unsealed(value)
    return struct.unpack(">BIIH", body[1:12]) if body and len(body) >= 12 and body[0] == 0x20 else None


BUSY, WRONG_VERSION = 0, 1


def read_refusal(value):
    """The reason, the lowest and highest version of the refusing side, and the nonce of the refused opening."""
    body = _unsealed(value)
    return struct.unpack(">BBBI", body[1:8]) if body and len(body) >= 8 and body[0] == 0x30 else None


@dataclass
class Fragment:
    kind: int
    number: int
    ack: int
    sack: int = 0
    payload: bytes = b""

    def pack(self, nonces, sender):
        first = self.kind | FULL_ROOM | (WITH_SACK if self.sack else 0)
        header = struct.pack(">BHH", first, self.number, self.ack)
        sack = struct.pack(">I", self.sack) if self.sack else b""
        return _sealed(header + sack + self.payload, _secret(nonces, sender))

    @staticmethod
    def read(value, nonces, sender):
        body = _unsealed(value, _secret(nonces, sender))
        if body is None or len(body) < 5:
            return None
        first, number, ack = struct.unpack(">BHH", body[:5])
        kind, payload, sack = first & 0xF0, body[5:], 0
        if kind != RESET and kind & WITH_SACK:
            if len(payload) < 4:
                return None
            kind, sack, payload = kind & ~WITH_SACK, struct.unpack(">I", payload[:4])[0], payload[4:]
        return Fragment(kind, number, ack, sack, payload)


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


# The example of the description.
assert frame(7, 1, bytes.fromhex("0a03414243")).hex() == "987654320000001900000007000000010000000" + "10a03414243"


# Messages: the part of protobuf's encoding that a hello and a comparison need.


def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def field(number, value):
    """A field with a number, a string or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def read_varint(data, at):
    """The number that begins there, and where the next thing does."""
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise ValueError("a varint without an end")
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5


def typed_fields(data):
    """A message as a list of (number, wire type, value)."""
    out, at = [], 0
    while at < len(data):
        key, at = read_varint(data, at)
        kind = key & 7
        if kind == VARINT:
            value, at = read_varint(data, at)
        elif kind in (FIXED64, FIXED32, LENGTH):
            length = {FIXED64: 8, FIXED32: 4}.get(kind)
            if length is None:
                length, at = read_varint(data, at)
            value, at = data[at : at + length], at + length
            if at > len(data):
                raise ValueError("a field without an end")
        else:
            raise ValueError(f"wire type {kind}")
        out.append((key >> 3, kind, value))
    return out


def fields(data):
    """A message as a list of (number, value)."""
    return [(number, value) for number, _, value in typed_fields(data)]


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
