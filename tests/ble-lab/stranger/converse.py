"""A peer's link on a stream: reads, writes what is to be said, keeps the link alive, ends it. And TCP as such a stream.

See docs/protocol.md, sections 5, 8 and 9.
"""

import asyncio
import socket
import time

import messages as m
from peer import OVER, UP, Link
from talk import FRIENDS_FRAME, PATIENCE, Closed, Talk

# A ping leaves when so long nothing was heard, and who was not heard for so long is gone.
PING_AFTER, PING_AFTER_OF_LISTENER, DEAD_AFTER = 5.0, 6.0, 9.0
LAST_WORDS = 2.0
DIALED_WITHIN = 4.0
# For what the other side does: it may run in an emulated machine beside much else.
WAITS = 45.0


class TcpStream:
    """What `talk.Stream` is over GATT. Section 7 begins at once."""

    @staticmethod
    async def dial(address, port):
        async with asyncio.timeout(DIALED_WITHIN):
            reader, writer = await asyncio.open_connection(address, port)
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return TcpStream(reader, writer)

    def __init__(self, reader, writer):
        self._reader, self._writer = reader, writer

    async def read(self, count, within=PATIENCE):
        try:
            async with asyncio.timeout(within):
                return await self._reader.readexactly(count)
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise Closed("hung up") from error

    async def write(self, data):
        try:
            self._writer.write(data)
            await self._writer.drain()
        except ConnectionError as error:
            raise Closed("hung up") from error

    async def finish(self):
        """Nothing follows."""
        self._writer.close()

    async def drop(self):
        """Without a word, as when somebody walks away."""
        self._writer.transport.abort()


class Session:
    """A `peer.Link` on a stream; `drop` is what ends the connection below without a word."""

    @staticmethod
    async def begin(device, stream, drop, *, friend=None, dialer=True, carrier):
        """Shakes hands: by IK with a friend, whose public key is given, else by XX."""
        talk = Talk(stream, dialer, static=device.private, friend=friend, carrier=carrier)
        await talk.shake_hands()
        return Session(device, talk, drop)

    def __init__(self, device, talk, drop):
        self.link = Link(device, bytes.fromhex(talk.peer_key), talk.handshake_hash, talk.dialer)
        self._talk, self._drop = talk, drop
        self._heard_at = time.monotonic()
        self._pinged = False
        self._listens = asyncio.Event()
        self._listens.set()
        self._changed = asyncio.Event()
        # One message after another, in the order in which the link said them.
        self._sending = asyncio.Lock()
        # Why it is over, once it is.
        self.error = None
        self._tasks = [asyncio.create_task(self._read()), asyncio.create_task(self._keep_alive())]

    # What a person does, and waits for.

    async def do(self, action, *arguments, **options):
        """An action of the link's, and what it says of it on the way."""
        result = action(*arguments, **options)
        await self._flush()
        return result

    async def until(self, what, so, within=WAITS):
        """Waits until it is so, and returns what it is; `what` names it where it does not come to be."""
        try:
            async with asyncio.timeout(within):
                while not (value := so()):
                    if self.error:
                        raise Closed(f"{what}: {self.error}")
                    self._changed.clear()
                    await self._changed.wait()
                return value
        except TimeoutError:
            raise TimeoutError(f"waited in vain for {what}; lately {self.link.news[-3:]}") from None

    async def news(self, kind, within=WAITS):
        """Waits for news of that kind and takes it."""

        def found():
            return next((one for one in self.link.news if one[0] == kind), None)

        one = await self.until(f"news of {kind}", found, within)
        self.link.news.remove(one)
        return one[1]

    async def goodbye(self, reason=m.LEAVING):
        await self.do(self.link.leave, reason)
        await self._close()

    async def drop(self):
        """The link is lost without a word."""
        self.deaf()
        await self._drop()

    def hold(self):
        """What comes waits until `go_on`, as on a slow link."""
        self._listens.clear()

    def go_on(self):
        self._listens.set()

    def deaf(self):
        """Nothing that comes from now on is heard, nor is anything said."""
        for task in self._tasks:
            task.cancel()

    # Underneath.

    async def _read(self):
        try:
            while self.link.phase != OVER:
                msgid, payload = await self._talk.receive(within=None)
                await self._listens.wait()
                self._heard_at, self._pinged = time.monotonic(), False
                self.link.handle(msgid, payload)
                if self.link.phase == UP:
                    self._talk.longest_frame = FRIENDS_FRAME
                await self._flush()
                self._changed.set()
            self.error = f"a goodbye for {self.link.reason}"
        except (Closed, ConnectionError, ValueError) as error:
            self.error = repr(error)
        self._changed.set()
        await self._close()

    async def _flush(self):
        async with self._sending:
            for message in self.link.take():
                await self._talk.send(message.NUMBER, message.encode())

    async def _close(self):
        self._tasks[1].cancel()
        try:
            async with asyncio.timeout(LAST_WORDS):
                await self._talk.stream.finish()
        except (Closed, ConnectionError, TimeoutError):
            pass

    async def _keep_alive(self):
        ping_after = PING_AFTER if self._talk.dialer else PING_AFTER_OF_LISTENER
        while True:
            silent = time.monotonic() - self._heard_at
            if silent >= DEAD_AFTER:
                self.error = "silence"
                self._changed.set()
                await self.do(self.link.leave, m.SILENT)
                return await self._drop()
            # Pings begin with the other's hello.
            if silent >= ping_after and self.link.hello and not self._pinged:
                self._pinged = True
                async with self._sending:
                    await self._talk.send(m.Ping.NUMBER, m.Ping(token=1).encode())
            await asyncio.sleep(0.5)
