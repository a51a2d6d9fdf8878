"""A talk over fragments: a reliable stream, Noise records in it, frames in these.

A plain sender, good enough for a few short messages: it acknowledges everything at once, and repeats after a second whatever was
not acknowledged.
"""

import asyncio
import secrets
import time

from noise.connection import Keypair, NoiseConnection

import wire

REPEAT_AFTER = 1.0
GREET_AFTER = 0.5
MOST_IN_FLIGHT = 8
# The other side runs in an emulated machine.
PATIENCE = 20.0


class Closed(Exception):
    """The other side has ended the talk; says how."""


class Stream:
    """One end of a link. `send` is a coroutine that puts one value on the air."""

    def __init__(self, send, limit):
        self._send = send
        self._limit = min(limit, wire.LARGEST)
        self._values = asyncio.Queue()
        self._changed = asyncio.Event()
        self._greeting = None
        self._greeted_at = 0.0
        self._nonce = secrets.randbits(32)
        self._nonces = None
        self._role = None
        self._next = 0
        self._flight = {}
        self._expected = 0
        self._ahead = {}
        self._incoming = bytearray()
        # How it ended: "finished", "reset", "refused" or "hung up".
        self.closed = None
        self._gone = asyncio.Event()
        self._pump = asyncio.create_task(self._run())

    # The two ways to begin.

    async def open(self, within=PATIENCE, version=wire.VERSION):
        self._role = wire.OPENER
        self._greeting = wire.opening(self._nonce, self._limit, version)
        await self._until(lambda: self._nonces is not None, within)

    async def accept(self, opening):
        _, _, nonce, limit = opening
        self._role = wire.ACCEPTER
        self._limit = min(self._limit, limit)
        self._nonces = (nonce, self._nonce)
        self._greeting = wire.accepting(nonce, self._nonce, self._limit)

    # What arrives.

    def is_gone(self):
        return self._gone.is_set()

    def handle(self, value):
        if self._nonces is None:
            refusal = wire.read_refusal(value)
            if refusal and refusal[3] == self._nonce:
                self._close("refused" if refusal[0] == wire.BUSY else f"refused: versions {refusal[1]} to {refusal[2]}")
            accepting = wire.read_accepting(value)
            if accepting and accepting[0] == wire.VERSION and accepting[1] == self._nonce:
                self._nonces = accepting[1:3]
                self._greeting = None
                self._limit = min(self._limit, accepting[3])
                self._acknowledge()
        elif self._role == wire.OPENER and wire.read_accepting(value):
            # Our first word was lost.
            self._acknowledge()
        else:
            fragment = wire.Fragment.read(value, self._nonces, wire.OPENER + wire.ACCEPTER - self._role)
            if fragment:
                self._greeting = None
                self._handle_fragment(fragment)
        self._changed.set()

    def _handle_fragment(self, fragment):
        for number in list(self._flight):
            behind = (fragment.ack - number) & 0xFFFF
            ahead = (number - fragment.ack - 1) & 0xFFFF
            if 0 < behind < 0x8000 or (ahead < 32 and fragment.sack >> ahead & 1):
                del self._flight[number]
        if fragment.kind == wire.RESET:
            self._close("reset")
        if fragment.kind in (wire.DATA, wire.END):
            if (fragment.number - self._expected) & 0xFFFF < 64:
                self._ahead[fragment.number] = fragment
            while self._expected in self._ahead:
                due = self._ahead.pop(self._expected)
                self._incoming += due.payload
                self._expected = (self._expected + 1) & 0xFFFF
                if due.kind == wire.END:
                    self._close("finished")
        if fragment.kind in (wire.DATA, wire.END, wire.PROBE):
            self._acknowledge()

    def lost(self):
        self._close("hung up")
        self._gone.set()

    def _close(self, how):
        self.closed = self.closed or how
        self._changed.set()

    # What leaves.

    def _acknowledge(self):
        sack = sum(1 << (n - self._expected - 1 & 0xFFFF) for n in self._ahead if (n - self._expected - 1) & 0xFFFF < 32)
        self._put(wire.Fragment(wire.ACK, self._next, self._expected, sack))

    def _put(self, fragment):
        self._values.put_nowait(fragment.pack(self._nonces, self._role))

    async def say(self, value):
        """Puts a value on the air that is no part of the stream."""
        await self._send(value)

    async def write(self, data):
        room = self._limit - wire.AROUND
        for at in range(0, len(data), room):
            await self._number(wire.DATA, data[at : at + room])

    async def finish(self):
        """Nothing follows."""
        await self._number(wire.END, b"")

    async def _number(self, kind, payload):
        await self._until(lambda: len(self._flight) < MOST_IN_FLIGHT)
        fragment = wire.Fragment(kind, self._next, self._expected, 0, payload)
        self._flight[self._next] = (time.monotonic(), fragment)
        self._next = (self._next + 1) & 0xFFFF
        self._put(fragment)

    async def _run(self):
        while True:
            try:
                await self._send(await asyncio.wait_for(self._values.get(), 0.1))
            except asyncio.TimeoutError:
                pass
            except ConnectionError:
                # It is gone, and whoever waits is told by the radio.
                return
            now = time.monotonic()
            if self._greeting and now - self._greeted_at > GREET_AFTER:
                self._greeted_at = now
                self._values.put_nowait(self._greeting)
            for number, (sent, fragment) in list(self._flight.items()):
                if now - sent > REPEAT_AFTER:
                    self._flight[number] = (now, fragment)
                    fragment.ack = self._expected
                    self._put(fragment)

    # What is waited for.

    async def _until(self, so, within=PATIENCE):
        async with asyncio.timeout(within):
            while not so():
                if self.closed:
                    raise Closed(self.closed)
                self._changed.clear()
                await self._changed.wait()

    async def read(self, count):
        await self._until(lambda: len(self._incoming) >= count)
        data = bytes(self._incoming[:count])
        del self._incoming[:count]
        return data

    async def gone(self, within=PATIENCE):
        """Waits until the connection below has ended."""
        async with asyncio.timeout(within):
            await self._gone.wait()

    def stop(self):
        self._pump.cancel()


class Talk:
    """Frames in Noise records over a stream, from the handshake on."""

    PROLOGUE = b"qiyou secure\ncarrier bluetooth\ninitiator dialer\nresponder listener\n"
    VERSION = 2
    # Who meets strangers; friends meet by another pattern, with keys that a stranger has not got.
    XX = 0

    def __init__(self, stream, dialer):
        self.stream = stream
        self.peer_key = None
        self._sent = self._received = 0
        # Records are numbered as they are made, so one must be on its way before the next is made.
        self._turn = asyncio.Lock()
        self._plain = bytearray()
        self._dialer = dialer
        self._noise = None

    def _begin(self, challenge, choice):
        self._noise = NoiseConnection.from_name(b"Noise_XX_25519_ChaChaPoly_BLAKE2s")
        if self._dialer:
            self._noise.set_as_initiator()
        else:
            self._noise.set_as_responder()
        self._noise.set_prologue(self.PROLOGUE + challenge + choice)
        # Somebody new each time.
        self._noise.set_keypair_from_private_bytes(Keypair.STATIC, secrets.token_bytes(32))
        self._noise.start_handshake()

    async def _write_message(self, message):
        await self.stream.write(len(message).to_bytes(2, "big") + message)

    async def _read_message(self):
        return await self.stream.read(int.from_bytes(await self.stream.read(2), "big"))

    async def shake_hands(self, bend=lambda message, number: message):
        """The listener's challenge, and the three messages of XX; `bend` may spoil ours."""
        choice = bytes([self.VERSION, self.XX])
        if self._dialer:
            challenge = await self._read_message()
            if not challenge[0] <= self.VERSION <= challenge[1]:
                raise ValueError(f"versions {challenge[0]} to {challenge[1]} of the handshake")
            self._begin(challenge, choice)
        else:
            challenge = bytes([self.VERSION, self.VERSION]) + secrets.token_bytes(32)
            await self._write_message(challenge)
        for number in (1, 2, 3):
            if (number == 2) != self._dialer:
                message = bytes(self._noise.write_message())
                message = choice + message if number == 1 else message
                message = bend(len(message).to_bytes(2, "big") + message, number)
                await self.stream.write(message)
            else:
                message = await self._read_message()
                if number == 1:
                    choice, message = message[:2], message[2:]
                    if choice != bytes([self.VERSION, self.XX]):
                        raise ValueError(f"not a stranger's handshake: {choice.hex()}")
                    self._begin(challenge, choice)
                # The library forgets it with the last message.
                state = self._noise.noise_protocol.handshake_state
                self._noise.read_message(message)
                if number > 1:
                    self.peer_key = state.rs.public_bytes.hex()

    async def send_record(self, plain):
        sealed = self._noise.encrypt(plain)
        await self.stream.write(len(sealed).to_bytes(2, "big") + sealed)

    async def send(self, msgid, payload):
        async with self._turn:
            self._sent += 1
            await self.send_record(wire.frame(msgid, self._sent, payload))

    async def receive(self):
        """The next message: its number and its bytes. Raises if it is no frame that may come now."""
        magic, total, msgid, seqnum, version = wire.HEADER.unpack(await self._read(wire.HEADER.size))
        self._received += 1
        if (magic, seqnum, version) != (wire.MAGIC, self._received, wire.FRAME_VERSION):
            raise ValueError(f"not the frame that was due: {magic:#x} {seqnum} {version}")
        return msgid, await self._read(total - wire.HEADER.size)

    async def _read(self, count):
        while len(self._plain) < count:
            length = int.from_bytes(await self.stream.read(2), "big")
            self._plain += self._noise.decrypt(await self.stream.read(length))
        data = bytes(self._plain[:count])
        del self._plain[:count]
        return data
