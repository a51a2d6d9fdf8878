#!/usr/bin/env python3
"""Independent devices for the Bluetooth lab, written from the protocol's description without code of this project.

    stranger.py SOCKET meet NAME       connects to the host named NAME, up to its hello, and says goodbye
    stranger.py SOCKET again NAME      connects and disconnects as fast as possible, without a goodbye
    stranger.py SOCKET nonsense NAME   violates the protocol in every known way, and reports each reaction
    stranger.py SOCKET between NAME    man in the middle between NAME and a device that takes it for NAME
    stranger.py SOCKET wait NAME       connects up to the short string, stays silent, and reports when the host has hung up
    stranger.py SOCKET play NAME       becomes NAME's friend, plays whole matches and is forgotten again (playing.py)

SOCKET is the emulator's, for LE controllers. Each output line is a JSON object; tests/src/bin/ble_lab/strangers.rs has the
expectations. `play` requests actions of NAME's user: it prints arguments of `qiyouctl`, and reads that program's output as a JSON
string from standard input.
"""

import asyncio
import json
import secrets
import sys
import tempfile
import time
import traceback
from contextlib import asynccontextmanager

import meeting
import messages as m
import playing
import records
import wire
from converse import Session
from peer import Device
from radio import Radio, named
from talk import PATIENCE, Closed, Talk

# How long to wait for no answer.
SILENCE = 1.5
# Seconds between being disconnected and coming back.
REST = 0.5
FLOOD = 200
# Less than the two minutes after which a host hangs up on who has said nothing to the string.
SENT_AWAY_WITHIN = 50.0
# A host lets few strangers ring in a row, and then another every 20 s: who is turned away comes again.
COMES_AGAIN, COMES_AGAIN_AFTER = 8, 10.0


def tell(what, **more):
    print(json.dumps({"what": what, **more}), flush=True)


@asynccontextmanager
async def connected(radio, name):
    """A connection with subscription to the host of this name, before any write. It is disconnected in every case."""
    card, connection, stream = await radio.reach_named(name)
    try:
        yield card, stream
    finally:
        stream.stop()
        if not stream.is_gone():
            await connection.disconnect()


async def greet(stream):
    """Connects up to the encrypted link, before any message."""
    await stream.open()
    talk = Talk(stream, dialer=True)
    await talk.shake_hands()
    return talk


async def hellos(talk):
    """The host's hello, which it sends unasked."""
    await talk.send(wire.HELLO, wire.hello("Stranger"))
    msgid, payload = await talk.receive()
    if msgid != wire.HELLO:
        raise ValueError(f"message {msgid} instead of a hello")
    return wire.read_hello(payload)


async def goodbye(talk):
    await talk.send(wire.BYE, wire.field(1, wire.BYE_LEAVING))
    await talk.stream.finish()
    return await ended(talk.stream)


async def meet(radio, name):
    begun = time.monotonic()
    async with connected(radio, name) as (card, stream):
        talk = await greet(stream)
        hello = await hellos(talk)
        took = (time.monotonic() - begun) * 1e3
        end = await goodbye(talk)
    card = {"flags": card.flags.hex(), "payload": card.payload.hex(), "name": card.name}
    tell("met", card=card, hello=hello, key=talk.peer_key, end=end, took_ms=took)


async def again(radio, name):
    # The stage at which it leaves. A device that returns at once must be accepted as a new one.
    for how in ("a connection", "a connection", "a greeting", "a greeting", "a hello", "a hello", "a hello"):
        begun = time.monotonic()
        async with connected(radio, name) as (_, stream):
            took = (time.monotonic() - begun) * 1e3
            if how == "a greeting":
                await stream.open()
            elif how == "a hello":
                await hellos(await greet(stream))
        tell("again", how=how, took_ms=took, tries=radio.tries)


async def last_word(talk):
    """The host's reaction to a violation before it closes the link: the reason of a goodbye, if any."""
    reason = None
    try:
        while reason is None:
            msgid, payload = await talk.receive()
            if msgid == wire.BYE:
                reason = dict(wire.fields(payload)).get(1, 0)
    except Closed:
        pass
    await talk.stream.finish()
    return reason


async def nonsense(radio, name):
    # An invalid opening is ignored; a valid one afterwards is accepted on the same link.
    async with connected(radio, name) as (_, stream):
        for length in (1, 4, 8, 12, 16, 40, 200):
            await stream.say(secrets.token_bytes(length))
        bent = bytearray(wire.opening(7, 400))
        bent[5] ^= 1
        await stream.say(bytes(bent))
        await stream.say(wire.Fragment(wire.DATA, 0, 0, 0, b"hello?").pack((7, 7), wire.OPENER))
        tell("nonsense", how="no greeting", answer=await ended(stream, SILENCE))
        talk = await greet(stream)
        for length in (1, 30, 200):
            await stream.say(secrets.token_bytes(length))
        hello = await hellos(talk)
        tell("nonsense", how="random values in between", answer=f"hello from {hello['name']}")
        await talk.send(4711, b"?")
        msgid, payload = await talk.receive()
        unsupported = msgid == wire.UNSUPPORTED and dict(wire.fields(payload)) == {1: 4711}
        tell("nonsense", how="an unknown message", answer="unsupported" if unsupported else f"message {msgid}")
        await goodbye(talk)

    # Of many openings at once the last one counts; the earlier ones leave no state behind.
    async with connected(radio, name) as (_, stream):
        for _ in range(FLOOD):
            await stream.say(wire.opening(secrets.randbits(32), 400))
        talk = await greet(stream)
        hello = await hellos(talk)
        tell("nonsense", how="a flood of greetings", answer=f"hello from {hello['name']}")
        await goodbye(talk)

    # A silent device is disconnected, at whatever stage.
    async with connected(radio, name) as (_, stream):
        tell("nonsense", how="no word at all", answer=await ended(stream))
    async with connected(radio, name) as (_, stream):
        await stream.open()
        try:
            await stream.read(1)
        except Closed:
            await stream.finish()
        tell("nonsense", how="a greeting and no more", answer=await ended(stream))

    async with connected(radio, name) as (_, stream):
        said = "opened"
        try:
            await stream.open(version=9)
        except Closed as closed:
            said = str(closed)
        tell("nonsense", how="a greeting of version 9", answer=f"{said}, {await ended(stream)}")

    def no_length(message, number):
        return b"GET / HTTP/1.1\r\n\r\n" if number == 1 else message

    def bent_proof(message, number):
        return message[:-1] + bytes([message[-1] ^ 1]) if number == 3 else message

    for how, bend in (("no handshake", no_length), ("a handshake with a bent proof", bent_proof)):
        async with connected(radio, name) as (_, stream):
            await stream.open()
            try:
                await Talk(stream, dialer=True).shake_hands(bend)
            except Closed:
                await stream.finish()
            tell("nonsense", how=how, answer=await ended(stream))

    async with connected(radio, name) as (_, stream):
        talk = await greet(stream)
        await talk.send_record(wire.frame(wire.HELLO, 1, wire.hello("Stranger"), magic=0x12345678))
        reason = await last_word(talk)
        tell("nonsense", how="a frame with another magic", answer=await ended(stream), bye=reason)

    async with connected(radio, name) as (_, stream):
        talk = await greet(stream)
        await talk.send(wire.PING, wire.field(1, 1))
        reason = await last_word(talk)
        tell("nonsense", how="a message before the hello", answer=await ended(stream), bye=reason)

    async with connected(radio, name) as (_, stream):
        talk = await greet(stream)
        await talk.send(wire.HELLO, wire.hello("Stranger", lowest=98, highest=99))
        reason = await last_word(talk)
        tell("nonsense", how="a hello of versions nobody speaks", answer=await ended(stream), bye=reason)


async def ended(stream, within=PATIENCE):
    """Whether the other side disconnects by itself, whatever it sends before."""
    try:
        await stream.gone(within)
        # bluetoothd 5.82 takes who is back before its Disconnect has been answered for gone, and then disconnects it no more.
        await asyncio.sleep(REST)
        return "hung up"
    except TimeoutError:
        return "none"


async def between(radio, name, posing):
    """Poses as `name` to the dialing device, and as that device to `name`. It runs a handshake with each, and forwards all
    messages except the verdicts: it tells both that the other person has answered "the same".

    On two radios, because btvirt 5.66 reports a wrong handle to a device that is connected to by one with another link."""
    card = await radio.find(named(name))
    opened = await posing.pose(card, name)
    tell("posing", address=posing.address)
    _, left, opening = await opened
    await posing.device.stop_advertising()
    await left.accept(opening)
    with_dialer = Talk(left, dialer=False)
    await with_dialer.shake_hands()
    _, _, right = await radio.reach(lambda heard: heard.address == card.address)
    with_listener = await greet(right)
    tell("between", dialer_key=with_dialer.peer_key, listener_key=with_listener.peer_key)

    async def pass_on(source, target, who):
        while True:
            msgid, payload = await source.receive()
            if msgid == wire.HELLO:
                tell("passed", who=who, name=wire.read_hello(payload)["name"])
            if msgid == wire.BYE:
                tell("parted", who=who, reason=dict(wire.fields(payload)).get(1, 0))
                continue
            if msgid == wire.PAIR:
                [(step, value)] = wire.fields(payload)
                if step == wire.VERDICT:
                    tell("verdict", who=who, same=bool(dict(wire.fields(value)).get(1, 0)))
                    continue
            await target.send(msgid, payload)
            if msgid == wire.PAIR and step == 3:
                # Both strings are on the screens. The stranger sends a false verdict, which must have no effect.
                lie = wire.verdict(True, secrets.token_bytes(32))
                await asyncio.gather(source.send(wire.PAIR, lie), target.send(wire.PAIR, lie))

    async def until_closed(source, target, who):
        try:
            await pass_on(source, target, who)
        except Closed:
            await source.stream.finish()
            await source.stream.gone()

    await asyncio.gather(
        until_closed(with_dialer, with_listener, "dialer"), until_closed(with_listener, with_dialer, "listener")
    )
    tell("over")


async def wait(radio, name):
    """Alive, and silent to what the person is asked: the host has no other reason to hang up than its person's word."""
    for left in reversed(range(COMES_AGAIN)):
        try:
            return await wait_once(radio, name)
        except Closed:
            if not left:
                raise
            await asyncio.sleep(COMES_AGAIN_AFTER)


async def wait_once(radio, name):
    with tempfile.TemporaryDirectory(prefix="qiyou-stranger.") as folder:
        async with connected(radio, name) as (_, stream):
            await stream.open()
            device = Device(f"{folder}/silent.json", "Silent")
            session = await Session.begin(device, stream, stream.finish, carrier="bluetooth")
            await session.until("a short string", lambda: session.link.string)
            tell("waits", key=device.public.hex())
            begun = time.monotonic()
            try:
                await session.until("the end of the link", lambda: False, SENT_AWAY_WITHIN)
            except Closed:
                pass
            tell("sent_away", end=await ended(stream), took_ms=(time.monotonic() - begun) * 1e3)


async def play(radio, name):
    """A friend, known by the key: finds the host by its tag, because the host advertises its name to strangers only."""

    async def hands(*words):
        tell("hands", words=words)
        answer = await asyncio.to_thread(sys.stdin.readline)
        if not answer:
            raise EOFError("nobody moves the host's person any more")
        return json.loads(answer)

    def check(claim, holds):
        tell("check", claim=claim, holds=bool(holds))
        if not holds:
            sys.exit(f"does not hold: {claim}")

    host_key = device_key = before = hang_up = None

    async def dial(device, friend):
        nonlocal host_key, device_key, before, hang_up
        if before:
            # The host disconnects after a goodbye.
            await before.gone()
        if friend:
            advert_key = bytes.fromhex(device.friends[host_key]["advert_key"])

            def is_host(card):
                # A blocked device gets no new tags, and finds the host only as strangers do.
                return meeting.is_tag_of(advert_key, card.tag, int(time.time())) or card.name == name

            card, connection, stream = await radio.reach(is_host)
        else:
            card, connection, stream = await radio.reach_named(name)

        async def drop():
            stream.stop()
            if not stream.is_gone():
                await connection.disconnect()

        before, hang_up = stream, drop
        await stream.open()
        key = host_key if friend else None
        session = await Session.begin(device, stream, drop, friend=key, carrier="bluetooth")
        host_key, device_key = session.link.peer, device.public
        return session

    with tempfile.TemporaryDirectory(prefix="qiyou-stranger.") as folder:
        try:
            matches = await playing.play(folder, dial, hands, check)
        finally:
            # A controller that vanishes during a connection leaves the host with a dead one.
            if hang_up:
                await hang_up()
    keys = {True: device_key, False: host_key}
    for match in matches:
        # In the format of the host's record.
        winner, ending = match.result
        players = [f"peer:{keys[match.side == side].hex()}" for side in (m.FIRST, m.SECOND)]
        actions = [records.as_message(action).encode().hex() for action in match.actions]
        saved = {"id": match.id.hex(), "setup": match.setup.encode().hex(), "players": players, "actions": actions}
        tell("kept", **saved, revision=match.revision, winner=winner, ending=ending)
    tell("over")


async def main():
    socket, what, name = sys.argv[1:]
    radio = await Radio.open(socket)
    if what == "between":
        await between(radio, name, await Radio.open(socket))
    else:
        await {"meet": meet, "again": again, "nonsense": nonsense, "play": play, "wait": wait}[what](radio, name)


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except BaseException:
        traceback.print_exc()
        raise
