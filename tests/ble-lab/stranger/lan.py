#!/usr/bin/env python3
"""The peer against a host on the local network: no radio, no virtual machine, a minute at most.

    lan.py QIYOUD QIYOUCTL    starts the host with its own data folder, reads its friend code, and plays

Prints each check that passes; exits with 1 at the first that fails.
"""

import asyncio
import json
import os
import pathlib
import signal
import sys
import tempfile

import converse
import meeting
import peer
import playing
from talk import Closed

READY_WITHIN = 20.0


class Host:
    """A `qiyoud` with the local network as its only carrier, and its user's client."""

    def __init__(self, qiyoud, qiyouctl, folder):
        self._qiyoud, self._qiyouctl = qiyoud, qiyouctl
        self._folder = folder
        self._socket = str(folder / "control.sock")

    async def __aenter__(self):
        log = open(self._folder / "qiyoud.log", "w")
        self._process = await asyncio.create_subprocess_exec(
            self._qiyoud, "--data-dir", str(self._folder / "host"), "--socket", self._socket,
            "--no-bluetooth", "--no-notifications", "--name", "Ann", stderr=log, stdin=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        async with asyncio.timeout(READY_WITHIN):
            while not await self._answers():
                await asyncio.sleep(0.05)
        return self

    async def _answers(self):
        """Whether the socket takes connections: it is there a moment earlier."""
        try:
            _, writer = await asyncio.open_unix_connection(self._socket)
        except OSError:
            return False
        writer.close()
        return True

    async def __aexit__(self, *_):
        self._process.send_signal(signal.SIGTERM)
        await self._process.wait()

    async def hands(self, *words):
        if words == ("comparison",):
            return json.dumps(await self._comparison())
        process = await asyncio.create_subprocess_exec(
            self._qiyouctl, "--socket", self._socket, *words,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        said, error = await process.communicate()
        if process.returncode:
            raise RuntimeError(f"qiyouctl {' '.join(words)}: {error.decode()}")
        return said.decode()

    async def _comparison(self):
        """The host's state, which a new client gets up to the `Ready` event."""
        process = await asyncio.create_subprocess_exec(
            self._qiyouctl, "--socket", self._socket, "watch", "--json", stdout=asyncio.subprocess.PIPE
        )
        try:
            async for line in process.stdout:
                event = json.loads(line)
                if event["event"] == "comparison":
                    return event
                if event["event"] == "ready":
                    return None
        finally:
            process.terminate()
            await process.wait()


async def main():
    qiyoud, qiyouctl = sys.argv[1:]
    count = 0

    def check(claim, holds):
        nonlocal count
        if not holds:
            sys.exit(f"lan: does not hold: {claim}")
        count += 1
        print(f"lan: {claim}", flush=True)

    with tempfile.TemporaryDirectory(prefix="qiyou-peer.") as folder:
        folder = pathlib.Path(folder)
        async with Host(qiyoud, qiyouctl, folder) as host:
            await host.hands("visibility", "everyone")
            code = meeting.FriendCode.read(await host.hands("code", "--plain"))
            if not list(code.lan_places()):
                # As scripts/skipped does.
                print("SKIPPED: the stranger over TCP: this machine is in no local network", file=sys.stderr)
                sys.exit(1 if os.environ.get("CI") else 0)
            check("a friend code is written as it was read", meeting.FriendCode.read(code.write()) == code)
            async def dial(device, friend):
                stream = await converse.TcpStream.dial(*next(code.lan_places()))
                key = code.key if friend else None
                session = await converse.Session.begin(device, stream, stream.drop, friend=key, carrier="lan")
                if not friend:
                    check("a stranger's handshake tells the key of the friend code", session.link.peer == code.key)
                return session

            await playing.play(folder, dial, host.hands, check)
            await host.hands("visibility", "friends")
            for name, as_friend in [("Zoe", True), ("Yan", True), ("Yan", False)]:
                device = peer.Device(str(folder / f"{name}.json"), name)
                try:
                    await dial(device, as_friend)
                    answer = "a handshake"
                except Closed as closed:
                    answer = str(closed)
                how = "as one who knows it" if as_friend else "as a stranger"
                check(f"a host for friends only refuses {name} {how} without a word", answer == "hung up")
    print(f"lan: {count} checks passed")


if __name__ == "__main__":
    asyncio.run(main())
