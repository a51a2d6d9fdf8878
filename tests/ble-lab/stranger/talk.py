"""An encrypted link over fragments: a reliable stream, Noise records in it, frames in the records.

A simple sender for a few short messages: it acknowledges everything at once, and retransmits after a second without an
acknowledgement.
"""

import asyncio
import secrets
import time

from noise.connection import Keypair, NoiseConnection

import wire

REPEAT_AFTER = 1.0
GREET_AFTER = 0.5
MOST_IN_FLIGHT = 8
# Generous, because the other side runs in an emulated machine.
PATIENCE = 20.0


class Closed(Exception):
    """The other side has ended the link; states how."""


class Stream:
    """One end of a link. `send` is a coroutine that transmits one characteristic value."""

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
        # How the link ended: "finished", "reset", "refused" or "hung up".
        self.closed = None
        self._gone = asyncio.Event()
        self._pump = asyncio.create_task(self._run())

    # Opening, as opener or accepter.

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

    # Receiving.

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
            # Our Accept was lost.
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

    # Sending.

    def _acknowledge(self):
        sack = sum(1 << (n - self._expected - 1 & 0xFFFF) for n in self._ahead if (n - self._expected - 1) & 0xFFFF < 32)
        self._put(wire.Fragment(wire.ACK, self._next, self._expected, sack))

    def _put(self, fragment):
        self._values.put_nowait(fragment.pack(self._nonces, self._role))

    async def say(self, value):
        """Transmits a value outside the stream."""
        await self._send(value)

    async def write(self, data):
        room = self._limit - wire.AROUND
        for at in range(0, len(data), room):
            await self._number(wire.DATA, data[at : at + room])

    async def finish(self):
        """Ends the outgoing direction."""
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
                # Python 3.11's `wait_for` loses a cancellation that comes with a value, and the program would not end.
                async with asyncio.timeout(0.1):
                    value = await self._values.get()
                await self._send(value)
            except TimeoutError:
                pass
            except ConnectionError:
                # The connection is gone, which the radio reports to the waiters.
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

    # Waiting.

    async def _until(self, so, within=PATIENCE):
        async with asyncio.timeout(within):
            while not so():
                if self.closed:
                    raise Closed(self.closed)
                self._changed.clear()
                await self._changed.wait()

    async def read(self, count, within=PATIENCE):
        """Waits without limit if `within` is `None`."""
        await self._until(lambda: len(self._incoming) >= count, within)
        data = bytes(self._incoming[:count])
        del self._incoming[:count]
        return data

    async def gone(self, within=PATIENCE):
        """Waits until the connection below has ended."""
        async with asyncio.timeout(within):
            await self._gone.wait()

    def stop(self):
        self._pump.cancel()


PATTERNS = {0: b"Noise_XX_25519_ChaChaPoly_BLAKE2s", 1: b"Noise_IK_25519_ChaChaPoly_BLAKE2s"}
# XX for strangers, IK with a known key.
XX, IK = 0, 1
HANDSHAKE_VERSION = 2
CHALLENGE_NONCE = 32
LONGEST_CHALLENGE = 128
RECORD_PLAINTEXT = 4096
STRANGERS_FRAME, FRIENDS_FRAME = 1024, 16_384


def prologue(carrier, challenge, choice):
    return f"qiyou secure\ncarrier {carrier}\ninitiator dialer\nresponder listener\n".encode() + challenge + choice


def noise_of(name, initiator, static, *, remote=None, prologue=b"", ephemeral=None):
    """One end of a Noise handshake; `ephemeral` only for test vectors."""
    noise = NoiseConnection.from_name(name)
    (noise.set_as_initiator if initiator else noise.set_as_responder)()
    noise.set_prologue(prologue)
    noise.set_keypair_from_private_bytes(Keypair.STATIC, static)
    if ephemeral:
        noise.set_keypair_from_private_bytes(Keypair.EPHEMERAL, ephemeral)
    if remote:
        noise.set_keypair_from_public_bytes(Keypair.REMOTE_STATIC, remote)
    noise.start_handshake()
    return noise


class Talk:
    """Frames in Noise records over a stream, from the handshake on.

    `static`: the own private key, a new one by default; `friend`: the public key of the dialed device, if known.
    """

    def __init__(self, stream, dialer, *, static=None, friend=None, carrier="bluetooth"):
        self.stream = stream
        self.dialer = dialer
        self.peer_key = None
        self.handshake_hash = None
        # Grows once the peer is a friend.
        self.longest_frame = STRANGERS_FRAME
        self._static = static or secrets.token_bytes(32)
        self._friend = friend
        self._carrier = carrier
        self._sent = self._received = 0
        # Records are numbered at encryption, so each must be sent before the next one is encrypted.
        self._turn = asyncio.Lock()
        self._plain = bytearray()
        self._noise = None

    async def _write_message(self, message):
        await self.stream.write(len(message).to_bytes(2, "big") + message)

    async def _read_message(self):
        return await self.stream.read(int.from_bytes(await self.stream.read(2), "big"))

    async def shake_hands(self, bend=lambda message, number: message):
        """Exchanges the listener's challenge and the messages of the dialer's pattern; `bend` may corrupt ours."""
        if self.dialer:
            challenge = await self._read_message()
            if not 2 + CHALLENGE_NONCE <= len(challenge) <= LONGEST_CHALLENGE:
                raise ValueError(f"a challenge of {len(challenge)} bytes")
            if not challenge[0] <= HANDSHAKE_VERSION <= challenge[1]:
                await self._write_message(bytes([0, HANDSHAKE_VERSION, HANDSHAKE_VERSION]))
                raise ValueError(f"versions {challenge[0]} to {challenge[1]} of the handshake")
            choice, message = bytes([HANDSHAKE_VERSION, IK if self._friend else XX]), None
        else:
            challenge = bytes([HANDSHAKE_VERSION] * 2) + secrets.token_bytes(CHALLENGE_NONCE)
            await self._write_message(challenge)
            first = await self._read_message()
            choice, message = first[:2], first[2:]
            if choice[:1] != bytes([HANDSHAKE_VERSION]) or choice[1] not in PATTERNS:
                raise ValueError(f"no handshake: {first[:3].hex()}")
        mixed = prologue(self._carrier, challenge, choice)
        self._noise = noise = noise_of(
            PATTERNS[choice[1]], self.dialer, self._static, remote=self._friend, prologue=mixed
        )
        # The library drops it after the last message.
        state = noise.noise_protocol.handshake_state
        for number in range(1, 4 if choice[1] == XX else 3):
            if (number % 2 == 1) == self.dialer:
                written = (choice if number == 1 else b"") + bytes(noise.write_message())
                await self.stream.write(bend(len(written).to_bytes(2, "big") + written, number))
            elif noise.read_message(message if number == 1 else await self._read_message()):
                raise ValueError("a handshake with something to say")
        self.peer_key = state.rs.public_bytes.hex()
        self.handshake_hash = noise.get_handshake_hash()

    async def send_record(self, plain):
        sealed = self._noise.encrypt(plain)
        await self.stream.write(len(sealed).to_bytes(2, "big") + sealed)

    async def send(self, msgid, payload):
        async with self._turn:
            self._sent += 1
            whole = wire.frame(msgid, self._sent, payload)
            for at in range(0, len(whole), RECORD_PLAINTEXT):
                await self.send_record(whole[at : at + RECORD_PLAINTEXT])

    async def receive(self, within=PATIENCE):
        """The next message: its number and its bytes. `ValueError` for an invalid or unexpected frame."""
        magic, total, msgid, seqnum, version = wire.HEADER.unpack(await self._read(wire.HEADER.size, within))
        self._received += 1
        if (magic, seqnum, version) != (wire.MAGIC, self._received, wire.FRAME_VERSION):
            raise ValueError(f"not the frame that was due: {magic:#x} {seqnum} {version}")
        if not wire.HEADER.size <= total <= self.longest_frame:
            raise ValueError(f"a frame of {total} bytes")
        return msgid, await self._read(total - wire.HEADER.size)

    async def _read(self, count, within=PATIENCE):
        while len(self._plain) < count:
            length = int.from_bytes(await self.stream.read(2, within), "big")
            self._plain += self._noise.decrypt(await self.stream.read(length))
        data = bytes(self._plain[:count])
        del self._plain[:count]
        return data
