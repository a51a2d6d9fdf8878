"""Writes docs/vectors.json: bytes of every layer of the protocol, computed from docs/protocol.md, independently of the Rust code.

    python3 tests/ble-lab/stranger/vectors.py            compares with docs/vectors.json; exits with 1 if they differ
    python3 tests/ble-lab/stranger/vectors.py --write    writes it

Needs `noiseprotocol` and `cryptography` as in requirements.txt. The functions are those of the peer beside this file; decoders are
checked on the encoded bytes; tests/tests/vectors.rs compares with Rust's.
"""

import base64
import json
import pathlib
import struct
import sys
import uuid
import zlib
from xml.etree import ElementTree
from xml.sax.saxutils import escape

import meeting
import messages as m
import records
import talk
import wire
from meeting import PICTURES, FriendCode, public_key
from records import packed, sha256

OUT = pathlib.Path(__file__).resolve().parents[3] / "docs" / "vectors.json"


def numbered(name, length=32):
    """Reproducible pseudo-random bytes: a prefix of SHA-256 of a word."""
    return sha256(b"qiyou vectors: ", name.encode())[:length]


def session_nonce(seed, count=1):
    """Not part of the protocol: how Qiyou's session derives its nonces, so that a test can reproduce those of the vectors."""
    return sha256(b"qiyou nonce 1", seed, struct.pack(">Q", count))


field = wire.field


# Frames.


def frames():
    out = []
    for msgid, seqnum, payload in [
        (7, 1, bytes.fromhex("0a03414243")),
        (12, 2, field(1, 300)),
        (13, 0x7FFFFFFF, b""),
    ]:
        bytes_ = struct.pack(">IIIII", 0x98765432, 20 + len(payload), msgid, seqnum, 1) + payload
        assert bytes_ == wire.frame(msgid, seqnum, payload)
        out.append({"msgid": msgid, "seqnum": seqnum, "payload": payload.hex(), "bytes": bytes_.hex()})
    return out


# The stream over GATT.


def sealed(body, secret=b""):
    return body + struct.pack(">I", zlib.crc32(secret + body))


def segment(opener, accepter, sender, kind, room, number_, ack, sack, payload):
    kinds = {"data": 0x40, "ack": 0x50, "end": 0x60, "probe": 0x70, "reset": 0x80}
    assert room % 4 == 0
    first = kinds[kind] | (0x80 if sack else 0) | room // 4
    body = struct.pack(">BHH", first, number_, ack) + (struct.pack(">I", sack) if sack else b"") + payload
    bytes_ = sealed(body, struct.pack(">IIB", opener, accepter, {"opener": 1, "accepter": 2}[sender]))
    if room == 60:
        fragment = wire.Fragment(kinds[kind], number_, ack, sack, payload)
        assert bytes_ == fragment.pack((opener, accepter), {"opener": 1, "accepter": 2}[sender])
    return {
        "opener": opener,
        "accepter": accepter,
        "sender": sender,
        "kind": kind,
        "room": room,
        "number": number_,
        "ack": ack,
        "sack": sack,
        "payload": payload.hex(),
        "bytes": bytes_.hex(),
    }


def stream():
    openings = []
    for lowest, highest, nonce, limit in [(2, 2, 0xDEADBEEF, 490), (2, 7, 1, 18)]:
        bytes_ = sealed(struct.pack(">BBBIH", 0x10, lowest, highest, nonce, limit))
        assert wire.read_opening(bytes_) == (lowest, highest, nonce, limit)
        openings.append({"lowest": lowest, "highest": highest, "nonce": nonce, "limit": limit, "bytes": bytes_.hex()})
    acceptings = []
    for version, opener, accepter, limit in [(2, 0xDEADBEEF, 0x01020304, 244)]:
        bytes_ = sealed(struct.pack(">BBIIH", 0x20, version, opener, accepter, limit))
        assert wire.read_accepting(bytes_) == (version, opener, accepter, limit)
        word = {"version": version, "opener": opener, "accepter": accepter, "limit": limit, "bytes": bytes_.hex()}
        acceptings.append(word)
    refusals = []
    for reason, lowest, highest, nonce in [(0, 2, 2, 0xDEADBEEF), (1, 2, 2, 1)]:
        bytes_ = sealed(struct.pack(">BBBBI", 0x30, reason, lowest, highest, nonce))
        assert wire.read_refusal(bytes_) == (reason, lowest, highest, nonce)
        word = {"reason": ["busy", "version"][reason], "lowest": lowest, "highest": highest, "nonce": nonce}
        refusals.append(word | {"bytes": bytes_.hex()})
    # Fields that a later version adds before the CRC are skipped.
    later = sealed(struct.pack(">BBBIH", 0x10, 2, 9, 7, 490) + b"more")
    link = (0xDEADBEEF, 0x01020304)
    segments = [
        # The accepter considers the link open at the opener's first numbered fragment.
        segment(*link, "opener", "ack", 60, 0, 0, 0, b""),
        segment(*link, "opener", "data", 60, 0, 0, 0, b"h8"),
        # Numbers wrap around.
        segment(*link, "accepter", "data", 32, 0xFFFF, 1, 0, bytes(range(9))),
        # Of 1 to 5 the numbers 1 and 4 are missing: ack + 1 + i has arrived for i = 0, 1, 3.
        segment(*link, "accepter", "ack", 60, 0, 1, 0b1011, b""),
        segment(*link, "accepter", "data", 60, 3, 1, 0b1011, b"with SACK"),
        segment(*link, "opener", "probe", 4, 9, 7, 0, b""),
        segment(*link, "opener", "end", 60, 9, 7, 0, b"the last"),
        segment(*link, "accepter", "end", 0, 4, 10, 0x80000000, b""),
        segment(*link, "opener", "reset", 60, 10, 7, 0, b""),
    ]
    return {
        "openings": openings,
        "opening_of_a_later_version": {"lowest": 2, "highest": 9, "nonce": 7, "limit": 490, "bytes": later.hex()},
        "acceptings": acceptings,
        "refusals": refusals,
        "segments": segments,
    }


# Noise.

def with_length(body):
    return struct.pack(">H", len(body)) + body


def transcript(pattern, carrier):
    keys = {
        "dialer_static": numbered("dialer's static key"),
        "listener_static": numbered("listener's static key"),
        "dialer_ephemeral": numbered(f"dialer's ephemeral key {pattern}"),
        "listener_ephemeral": numbered(f"listener's ephemeral key {pattern}"),
    }
    challenge = bytes([2, 2]) + numbered("challenge")
    choice = bytes([2, pattern])
    mixed = talk.prologue(carrier, challenge, choice)
    listener_public = public_key(keys["listener_static"])
    known = listener_public if pattern == 1 else None
    dialer, listener = (
        talk.noise_of(
            talk.PATTERNS[pattern],
            who == "dialer",
            keys[f"{who}_static"],
            remote=known if who == "dialer" else None,
            prologue=mixed,
            ephemeral=keys[f"{who}_ephemeral"],
        )
        for who in ("dialer", "listener")
    )
    messages = [{"from": "listener", "bytes": with_length(challenge).hex()}]
    turn, first = (dialer, "dialer"), True
    while not dialer.handshake_finished or not listener.handshake_finished:
        noise, name = turn
        message = bytes(noise.write_message())
        other = (listener, "listener") if noise is dialer else (dialer, "dialer")
        assert other[0].read_message(message) == b""
        messages.append({"from": name, "bytes": with_length((choice if first else b"") + message).hex()})
        turn, first = other, False
    handshake_hash = dialer.get_handshake_hash()
    assert handshake_hash == listener.get_handshake_hash()
    records = []
    for noise, other, name, plain in [
        (dialer, listener, "dialer", wire.frame(12, 1, field(1, 7))),
        (dialer, listener, "dialer", wire.frame(12, 2, field(1, 8))),
        (listener, dialer, "listener", wire.frame(13, 1, field(1, 7))),
    ]:
        record = noise.encrypt(plain)
        assert other.decrypt(record) == plain
        records.append({"from": name, "plain": plain.hex(), "bytes": with_length(record).hex()})
    return {
        "name": talk.PATTERNS[pattern].decode(),
        "carrier": carrier,
        **{key: value.hex() for key, value in keys.items()},
        "dialer_public": public_key(keys["dialer_static"]).hex(),
        "listener_public": listener_public.hex(),
        "challenge": challenge.hex(),
        "choice": choice.hex(),
        "prologue": mixed.hex(),
        "messages": messages,
        "handshake_hash": handshake_hash.hex(),
        "records": records,
    }


def noise():
    return {
        "strangers": transcript(0, "bluetooth"),
        "friends": transcript(1, "lan"),
        "no_common_version": {"challenge": bytes([3, 5]).hex() + numbered("challenge").hex(), "answer": "0003000202"},
    }


# The first meeting.

def short_strings():
    out = []
    for number_ in range(3):
        handshake_hash, seed = numbered(f"handshake hash {number_}"), numbered(f"seed {number_}")
        other_seed = numbered(f"seed of B {number_}")
        a, b = session_nonce(seed), session_nonce(other_seed)
        okm = meeting.short_string_material(handshake_hash, a, b)
        string = meeting.short_string(handshake_hash, a, b)
        out.append(
            {
                "handshake_hash": handshake_hash.hex(),
                "nonce_a": a.hex(),
                "nonce_a_seed": seed.hex(),
                "nonce_b": b.hex(),
                "nonce_b_seed": other_seed.hex(),
                "commitment": records.commitment(a).hex(),
                "okm": okm.hex(),
                "pictures": list(string.pictures),
                "emoji": string.emoji,
                "digits": string.digits,
            }
        )
    return {"pictures": PICTURES, "strings": out}


def tags():
    out = []
    for key, seconds in [(bytes(range(32)), 1_950_000 * 900), (numbered("advert key"), 1_800_000_000)]:
        tag = meeting.tag(key, seconds)
        assert meeting.is_tag_of(key, tag, seconds + 900) and not meeting.is_tag_of(key, tag, seconds + 1800)
        out.append({"advert_key": key.hex(), "seconds": seconds, "epoch": seconds // 900, "tag": tag.hex()})
    return out


# Cards.


def structures(data):
    """The structures of advertising data or of a scan response: type and value."""
    out = {}
    while data:
        out[data[1]], data = data[2 : 1 + data[0]], data[1 + data[0] :]
    return out


def shown(open_to_all, busy, name, tag, wish=0):
    return {"open_to_all": open_to_all, "busy": busy, "wish": wish, "name": name, "tag": tag.hex()}


def adverts():
    def structure(kind, value):
        return bytes([len(value) + 1, kind]) + value

    service = uuid.UUID("1aea3cda-90c7-4f92-a929-83e7e62f688e")
    out = []
    for open_to_all, busy, name, tag in [
        (True, False, "Ann", bytes([1, 2, 3, 4, 5])),
        # To friends only.
        (False, True, None, bytes.fromhex(tags()[0]["tag"])),
        # Ten characters of three bytes: nine fit.
        (True, True, "棋友棋友棋友棋友棋友", bytes.fromhex(tags()[1]["tag"])),
    ]:
        first = 1 << 4 | open_to_all | busy << 1 | (name is not None) << 2
        # LE General Discoverable, no BR/EDR.
        data = structure(0x01, b"\x06") + structure(0x07, service.bytes[::-1])
        data += structure(0xFF, struct.pack("<H", 0xFFFF) + bytes([first]) + tag)
        scan_response = b""
        if name is not None:
            cut = name.encode()[:29].decode(errors="ignore")
            scan_response = structure(0x09, cut.encode())
        assert len(data) == 31 and len(scan_response) <= 31
        card = structures(data)[0xFF]
        assert card[:2] == b"\xff\xff" and card[2] >> 4 == 1 and card[3:] == tag
        assert structures(scan_response).get(0x09, b"").decode() == (name or "")[:9]
        out.append(
            shown(open_to_all, busy, name, tag)
            | {"payload": card[2:].hex(), "advertising_data": data.hex(), "scan_response": scan_response.hex()}
        )
    return out


QUOTE = {"'": "&apos;"}


def element(name, namespace, attributes, text=""):
    """An element in XML; the order of the attributes means nothing."""
    written = "".join(f" {key}='{escape(str(value), QUOTE)}'" for key, value in attributes.items())
    xml = f"<{name} xmlns='{namespace}'{written}" + (f">{text}</{name}>" if text else "/>")
    read = ElementTree.fromstring(xml)
    assert read.tag == f"{{{namespace}}}{name}" and (read.text or "") == text
    assert read.attrib == {key: str(value) for key, value in attributes.items()}
    return xml


def cards():
    """The strings of a TXT record and their bytes in it, in this order, which means nothing; the same in a presence."""
    out = []
    for open_to_all, busy, wish, name, tag in [
        (False, False, 0, None, bytes([0, 1, 0xAB, 0xFF, 9])),
        (True, False, 1, "小明 & <Anna>", bytes.fromhex(tags()[0]["tag"])),
        (True, True, 15, "", bytes.fromhex(tags()[1]["tag"])),
    ]:
        strings = {"v": "1", "s": f"{open_to_all | busy << 1:x}", "t": tag.hex()}
        if wish:
            strings["w"] = f"{wish:x}"
        if name is not None:
            strings["n"] = name
        entries = [f"{key}={value}".encode() for key, value in strings.items()]
        txt = b"".join(bytes([len(entry)]) + entry for entry in entries)
        presence = element("card", "urn:qiyou:card:1", strings)
        out.append(shown(open_to_all, busy, name, tag, wish) | {"txt": txt.hex(), "presence": presence})
    return out


# XMPP.


def xmpp_links():
    """What messages of a link carry. Nothing in `number` where a message only acknowledges."""
    name = numbered("link", 8).hex()
    challenge = with_length(bytes([2, 2]) + numbered("challenge"))
    out = []
    for number_, acknowledged, opens, chunk in [
        (None, 0, True, b""),
        (1, 0, False, challenge),
        (7, 3, False, b"h8"),
        (None, 4294967295, False, b""),
        # The end of the stream.
        (8, 3, False, b""),
    ]:
        attributes = {"l": name}
        if number_ is not None:
            attributes["n"] = number_
        attributes["a"] = acknowledged
        if opens:
            attributes["o"] = 1
        xml = element("q", "urn:qiyou:link:1", attributes, base64.b64encode(chunk).decode())
        said = {"link": name, "number": number_, "acknowledged": acknowledged, "opens": opens, "chunk": chunk.hex()}
        out.append(said | {"element": xml})
    return out


def xmpp():
    link = numbered("link", 8).hex()
    range_ = {"lowest": 1, "highest": 1}
    return {
        "links": xmpp_links(),
        "link_that_is_not_there": {"link": link, "element": element("q", "urn:qiyou:link:1", {"l": link, "r": 1})},
        "versions": [
            {"of": of, "id": id_}
            | range_
            | {"element": element("versions", "urn:qiyou:versions", {"of": of, "id": id_} | range_)}
            for of, id_ in [("link", link), ("letter", "qiyou-letter-<1>")]
        ],
        "letters": [
            {
                "sealed": one["sealed"],
                "element": element(
                    "letter", "urn:qiyou:letter:1", {}, base64.b64encode(bytes.fromhex(one["sealed"])).decode()
                ),
            }
            for one in letters()
        ],
    }


# Matches.


def actions():
    every = [
        ["place", 0, 0],
        ["place", 7, 7],
        ["place", 14, 0],
        ["place", 0, 14],
        ["place", 1023, 1023],
        ["step", 4, 0, 4, 1],
        ["step", 1023, 0, 512, 511],
        ["capture", 3, 5],
        ["pass"],
        ["choose", 1],
        ["choose", 2],
        ["choose", 3],
        ["choose", 4],
        ["choose", 13],
        ["done", 0],
        ["done", 123],
        ["press", 2, 4],
        ["toggle", 18, 18],
        ["agree"],
        ["resume"],
    ]
    assert records.unpacked(b"".join(map(packed, every))) == every
    return [{"action": action, "packed": packed(action).hex()} for action in every]


# Freestyle on 15x15, and five in a row in an edge counts.
GOMOKU = m.Setup(gomoku=m.GomokuSetup(size=15, rule=m.FREESTYLE, edge_five_wins=True))
SIDES = ["", "first", "second"]
FISCHER = 3


def matches():
    plain = [["place", 7, 7], ["place", 8, 8], ["place", 7, 8]]
    timed = [["place", 7, 7], ["place", 6, 7], ["place", 7, 8], ["place", 6, 8]]
    times = [1_500, 127, 128, 59_999]
    out = []
    for match_id, side, list_, revision, result, pace, times_ in [
        (numbered("match 1", 16), m.FIRST, plain, 0, None, None, ()),
        # Second resigned: First won. Fischer, 300 s and 5 s more for each turn.
        (
            numbered("match 2", 16),
            m.SECOND,
            timed,
            2,
            m.Result(winner=m.FIRST, ending=m.RESIGNED),
            m.Pace(kind=FISCHER, main_s=300, step_s=5),
            times,
        ),
    ]:
        record = m.Record(
            match_id=match_id,
            setup=GOMOKU,
            sender_side=side,
            revision=revision,
            actions=b"".join(map(packed, list_)),
            result=result,
            pace=pace,
            times=b"".join(map(wire.varint, times_)),
        )
        bytes_ = record.encode()
        assert m.Record.decode(bytes_) == record and records.unpacked(record.actions) == list_
        setup = GOMOKU.encode()
        out.append(
            {
                "match_id": match_id.hex(),
                "setup": setup.hex(),
                "sender_side": SIDES[side],
                "revision": revision,
                "actions": list_,
                "packed": record.actions.hex(),
                "fischer": [pace.main_s, pace.step_s] if pace else None,
                "times": list(times_),
                "resigned": "second" if result else None,
                "digests": [f"{records.digest(setup, list_[:ply]):016x}" for ply in range(len(list_) + 1)],
                "bytes": bytes_.hex(),
            }
        )
    return out


def setups():
    """Setups of xiangqi by their text in files, with repetition by the Asian rules and by the Chinese ones, and their bytes."""
    out = []
    for text, number, rules in [
        ("quiet=120", 4, field(1, 120)),
        ("quiet=off black-first", 4, field(2, 1)),
        ("quiet=120 repetition=chinese", 7, field(1, 120)),
        ("quiet=off black-first repetition=chinese", 7, field(2, 1)),
    ]:
        setup = field(number, rules)
        out.append({"text": text, "setup": setup.hex(), "digest": f"{records.digest(setup, []):016x}"})
    return out


# Numbers of the pieces of a start.
PIECES = {
    "gomoku": "bw",
    "go": "bw",
    "liuzhou": "bwxo",
    "xiangqi": "KABNRCPkabnrcp",
}


def starts():
    """Setups whose match begins from a position: the line of the position, its points, and the bytes of the setup."""
    usual = {
        "gomoku": (1, lambda size: field(1, size) + field(3, 1)),
        "liuzhou": (2, lambda _: field(3, 3) + field(4, 1) + field(7, 3) + field(8, 60)),
        "go": (3, lambda size: field(1, size) + field(3, 15)),
        "xiangqi": (4, lambda _: field(1, 120)),
    }
    out = []
    for game, line, second, moving in [
        ("gomoku", "5/5/2b2/5/5 w", True, False),
        ("go", "bb3/w4/5/5/5 b", False, False),
        ("xiangqi", "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/R1BAKABNR w - - 0 1", False, False),
        ("liuzhou", "bbx3/wwo3/6/6/6/6 b p 0 0 0", False, False),
        ("liuzhou", "bbbb2/wwww2/6/6/6/6 w m 0 0 0", True, True),
    ]:
        rows = line.split()[0].split("/")
        points = []
        for row in reversed(rows):
            for sign in row:
                points += [0] * int(sign) if sign.isdigit() else [PIECES[game].index(sign) + 1]
        points += [0] * (len(points) % 2)
        bytes_ = bytes(low | high << 4 for low, high in zip(points[::2], points[1::2]))
        number, rules = usual[game]
        started = field(number, rules(len(rows))) + field(5, 2 if second else 1) + field(6, bytes_)
        setup = field(6, started + (field(7, 1) if moving else b""))
        out.append(
            {
                "game": game,
                "line": line,
                "points": bytes_.hex(),
                "setup": setup.hex(),
                "digest": f"{records.digest(setup, []):016x}",
            }
        )
    return out


def drawings():
    out = []
    # Enough for both results to occur.
    for number_ in range(4):
        id_, seed = numbered(f"invitation {number_}", 16), numbered(f"invited {number_}")
        inviter, invited = numbered(f"inviter {number_}"), session_nonce(seed)
        out.append(
            {
                "invite_id": id_.hex(),
                "inviter_nonce": inviter.hex(),
                "commitment": records.commitment(inviter).hex(),
                "invited_nonce": invited.hex(),
                "invited_nonce_seed": seed.hex(),
                "inviter_side": SIDES[records.inviter_side(id_, inviter, invited)],
                "lights_seed": records.lights_seed(id_, inviter, invited),
            }
        )
    assert len({one["inviter_side"] for one in out}) == 2
    return out


def split_mix_64(state):
    mask = (1 << 64) - 1
    while True:
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & mask
        yield z ^ z >> 31


def board_of_lights(columns, rows, seed, torus, diagonals):
    """The lights that are on, as (column, row)."""
    reach = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if diagonals or x == 0 or y == 0]
    numbers, presses, lights = split_mix_64(seed), set(), set()
    while not lights:
        for row in range(rows):
            for column in range(columns):
                if next(numbers) >> 63:
                    presses ^= {(column, row)}
        for column, row in presses:
            for x, y in reach:
                at = ((column + x) % columns, (row + y) % rows) if torus else (column + x, row + y)
                if 0 <= at[0] < columns and 0 <= at[1] < rows:
                    lights ^= {at}
    return lights


def boards():
    out = []
    # The second board needs a second round of random presses: after the first round no light is on.
    for columns, rows, seed, torus, diagonals in [
        (5, 5, 7, False, False),
        (1, 1, first_dark_seed(), False, False),
        (9, 4, drawings()[0]["lights_seed"], True, False),
        (11, 15, 1, True, True),
    ]:
        lights = board_of_lights(columns, rows, seed, torus, diagonals)
        packed_ = b"".join(
            sum(1 << column for column in range(columns) if (column, row) in lights).to_bytes((columns + 7) // 8, "little")
            for row in range(rows)
        )
        board = {"columns": columns, "rows": rows, "seed": seed, "torus": torus, "diagonals": diagonals}
        out.append(board | {"lights": packed_.hex()})
    return out


def first_dark_seed():
    return next(seed for seed in range(1, 100) if not next(split_mix_64(seed)) >> 63)


def new_games():
    out = []
    for revision in (0, 3):
        match_id = numbered("match 1", 16)
        for label in ("swapped", "same"):
            next_ = records.next_id(match_id, revision, swapped=label == "swapped")
            out.append({"match_id": match_id.hex(), "revision": revision, "colours": label, "next_id": next_.hex()})
    return out


# Friends.


def friend_codes():
    key = public_key(numbered("dialer's static key"))
    out = []
    for name, tag, places in [
        ("", None, []),
        ("小明 & Anna", bytes([1, 2, 3, 0xAB, 0xFF]), ["lan=192.168.1.7:40123", "lan=[fd00::7]:40123", "xmpp=ann@example.org"]),
    ]:
        code = FriendCode(key, name, tag, [tuple(place.split("=", 1)) for place in places])
        text = code.write()
        assert FriendCode.read(text) == code
        out.append({"key": key.hex(), "name": name, "tag": tag.hex() if tag else None, "places": places, "text": text})
    return out


def fingerprints():
    keys = [public_key(numbered("dialer's static key")), bytes(32)]
    return [{"key": key.hex(), "fingerprint": meeting.fingerprint(key)} for key in keys]


def letters():
    record = m.Record.decode(bytes.fromhex(matches()[0]["bytes"]))
    record.account = "ann@example.org"
    # The first without an account, as earlier versions write.
    texts = [bytes.fromhex(matches()[0]["bytes"]), record.encode()]
    return [letter(number, struct.pack(">I", 11) + text) for number, text in enumerate(texts)]


def letter(number, text):
    sender, receiver = numbered("dialer's static key"), numbered("listener's static key")
    ephemeral = numbered("letter's ephemeral key" + (f" {number + 1}" if number else ""))
    name, about = b"Noise_K_25519_ChaChaPoly_BLAKE2s", b"qiyou letter 1"
    writes = talk.noise_of(name, True, sender, remote=public_key(receiver), prologue=about, ephemeral=ephemeral)
    sealed_ = bytes(writes.write_message(text))
    reads = talk.noise_of(name, False, receiver, remote=public_key(sender), prologue=about)
    assert bytes(reads.read_message(sealed_)) == text
    return {
        "sender_static": sender.hex(),
        "receiver_static": receiver.hex(),
        "ephemeral": ephemeral.hex(),
        "text": text.hex(),
        "sealed": sealed_.hex(),
    }


def vectors():
    return {
        "about": "Bytes of Qiyou's protocol, in hexadecimal; see protocol.md. Made by tests/ble-lab/stranger/vectors.py.",
        "frames": frames(),
        "stream": stream(),
        "noise": noise(),
        "short_strings": short_strings(),
        "tags": tags(),
        "adverts": adverts(),
        "cards": cards(),
        "xmpp": xmpp(),
        "actions": actions(),
        "records": matches(),
        "setups": setups(),
        "starts": starts(),
        "drawings": drawings(),
        "boards_of_lights": boards(),
        "new_games": new_games(),
        "friend_codes": friend_codes(),
        "fingerprints": fingerprints(),
        "letters": letters(),
    }


def main():
    text = json.dumps(vectors(), indent=1, ensure_ascii=False) + "\n"
    if "--write" in sys.argv[1:]:
        OUT.write_text(text)
    elif OUT.read_text() != text:
        sys.exit(f"{OUT} is not what this program makes")


if __name__ == "__main__":
    main()
