"""Identification of devices and verification of people: fingerprints, tags, friend codes, short strings.

See docs/protocol.md, sections 2, 10 and 19.
"""

import hashlib
import hmac
import re
import struct
import urllib.parse
from dataclasses import dataclass, field

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

PICTURES = (
    "🐶🐱🐴🐷🐰🐼🐔🐧🐢🐟🐙🐘🐍🐝🐌🐸🌻🌵🌲🍄🍎🍌🍇🍉🍓🌽🍞🍕🎂🍦🌙⭐"
    "🌈🔥⛄☔🏠🚗🚲🚂🚀⛵⚓🎈🎁🎸🎺🔔⚽🏀🏆🎲📖📌🔑🔒🔨💡⏰👓👑👟💎👍"
)
assert len(PICTURES) == 64
EPOCH_S = 900


def public_key(private):
    return X25519PrivateKey.from_private_bytes(private).public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


def fingerprint(public):
    bits = int.from_bytes(hashlib.sha256(public).digest()[:15], "big")
    letters = "".join("abcdefghijklmnopqrstuvwxyz234567"[bits >> 5 * (23 - at) & 31] for at in range(24))
    return "-".join(letters[at : at + 4] for at in range(0, 24, 4))


def tag(advert_key, seconds):
    """The tag for the quarter of an hour that contains this Unix time."""
    return hmac.new(advert_key, struct.pack(">Q", seconds // EPOCH_S), "sha256").digest()[:5]


def is_tag_of(advert_key, told, seconds):
    """Whether a tag matches this friend; the handshake proves the identity."""
    return any(hmac.compare_digest(told, tag(advert_key, seconds + by * EPOCH_S)) for by in (-1, 0, 1))


@dataclass(frozen=True)
class ShortString:
    pictures: tuple
    digits: str

    @property
    def emoji(self):
        return "".join(PICTURES[picture] for picture in self.pictures)


def short_string_material(handshake_hash, nonce_a, nonce_b):
    return HKDF(SHA256(), 12, salt=handshake_hash, info=b"qiyou short string 1").derive(nonce_a + nonce_b)


def short_string(handshake_hash, nonce_a, nonce_b):
    """The short string that both people see; A is the dialer."""
    okm = short_string_material(handshake_hash, nonce_a, nonce_b)
    digits = int.from_bytes(okm[4:], "big") % 1_000_000
    return ShortString(tuple(byte % 64 for byte in okm[:4]), f"{digits:06}")


# Friend codes.

FREE = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:@[]"
LONGEST_CODE, MOST_PLACES = 1024, 8


@dataclass
class FriendCode:
    key: bytes
    name: str = ""
    tag: bytes | None = None
    # In the code's order: ("lan", "192.168.1.7:40123") or ("xmpp", "ann@example.org").
    places: list = field(default_factory=list)

    def write(self):
        fields = ([f"n={escaped(self.name)}"] if self.name else []) + ([f"t={self.tag.hex()}"] if self.tag else [])
        fields += [f"{kind}={escaped(place)}" for kind, place in self.places]
        return "qiyou:friend/1/" + self.key.hex() + ("?" + "&".join(fields) if fields else "")

    @staticmethod
    def read(text):
        """`ValueError` for an invalid code, or one of a later version."""
        text = text.strip()
        whole = re.fullmatch(r"qiyou:friend/(\d+)/([^?]*)(?:\?(.*))?", text)
        if not whole or len(text) > LONGEST_CODE:
            raise ValueError("no friend code")
        version, key, fields = whole.groups()
        if version != "1":
            raise ValueError("a friend code made by a newer Qiyou")
        if not re.fullmatch(r"[0-9a-fA-F]{64}", key):
            raise ValueError("a friend code without a key")
        code = FriendCode(bytes.fromhex(key))
        for kind, _, value in (one.partition("=") for one in (fields or "").split("&") if one):
            value = urllib.parse.unquote(value, errors="strict")
            if kind == "n":
                code.name = value
            elif kind == "t":
                if not re.fullmatch(r"[0-9a-fA-F]{10}", value):
                    raise ValueError("a friend code with a tag that cannot be read")
                code.tag = bytes.fromhex(value)
            elif kind in ("lan", "xmpp"):
                code.places.append((kind, value))
        if len(code.places) > MOST_PLACES:
            raise ValueError("a friend code of too many places")
        return code

    def lan_places(self):
        """Addresses and ports."""
        for kind, place in self.places:
            if kind == "lan":
                address, _, port = place.rpartition(":")
                yield address.strip("[]"), int(port)


def escaped(text):
    return "".join(chr(byte) if byte in FREE else f"%{byte:02X}" for byte in text.encode())
