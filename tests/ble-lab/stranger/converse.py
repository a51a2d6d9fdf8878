"""Drives a peer's link over a stream: reads, writes queued messages, keeps the link alive, closes it. Also TCP as a stream.

See docs/protocol.md, sections 5, 8 and 9.
"""

import asyncio
import socket
import time

import messages as m
from peer import OVER, UP, Link
from talk import FRIENDS_FRAME, PATIENCE, Closed, Talk

# Idle times: before a ping is sent, and before the peer counts as gone.
PING_AFTER, PING_AFTER_OF_LISTENER, DEAD_AFTER = 5.0, 6.0, 9.0
LAST_WORDS = 2.0
DIALED_WITHIN = 4.0
# Limit for the other side, which may run in an emulated machine on a busy host.
WAITS = 45.0


class TcpStream:
    """The TCP counterpart of `talk.Stream`. Section 7 begins at once."""

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
        """Ends the outgoing direction."""
        self._writer.close()

    async def drop(self):
        """Drops the connection without a goodbye, as when a device leaves the range."""
        self._writer.transport.abort()


class Session:
    """A `peer.Link` on a stream; `drop` ends the connection below without a goodbye."""

    @staticmethod
    async def begin(device, stream, drop, *, friend=None, dialer=True, carrier):
        """Runs the handshake: IK with a friend, whose public key is given, otherwise XX."""
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
        # Messages are written one at a time, in the link's order.
        self._sending = asyncio.Lock()
        # The reason of the end.
        self.error = None
        self._tasks = [asyncio.create_task(self._read()), asyncio.create_task(self._keep_alive())]

    # A person's actions and waits.

    async def do(self, action, *arguments, **options):
        """Runs an action of the link, and sends its messages."""
        result = action(*arguments, **options)
        await self._flush()
        return result

    async def until(self, what, so, within=WAITS):
        """Waits until the condition holds, and returns its value; `what` names the condition in the error."""
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
        """Waits for an event of this kind and removes it."""

        def found():
            return next((one for one in self.link.news if one[0] == kind), None)

        one = await self.until(f"news of {kind}", found, within)
        self.link.news.remove(one)
        return one[1]

    async def goodbye(self, reason=m.LEAVING):
        await self.do(self.link.leave, reason)
        await self._close()

    async def drop(self):
        """Loses the link without a goodbye."""
        self.deaf()
        await self._drop()

    def hold(self):
        """Delays incoming messages until `go_on`, as on a slow link."""
        self._listens.clear()

    def go_on(self):
        self._listens.set()

    def deaf(self):
        """From now on ignores incoming messages and sends none."""
        for task in self._tasks:
            task.cancel()

    # Internals.

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
            # Pings begin after the peer's hello.
            if silent >= ping_after and self.link.hello and not self._pinged:
                self._pinged = True
                async with self._sending:
                    await self._talk.send(m.Ping.NUMBER, m.Ping(token=1).encode())
            await asyncio.sleep(0.5)
