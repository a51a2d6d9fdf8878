#!/usr/bin/env python3
"""drive.py FOLDER: plays a move by touch in the guest whose sockets and log are in FOLDER, and keeps pictures of its screen there. Prints
`kiosk: N checks passed`."""

import json
import pathlib
import socket
import sys
import time

folder = pathlib.Path(sys.argv[1])
PATIENCE = 240
checks = 0


def connect(name):
    begun = time.monotonic()
    while True:
        one = socket.socket(socket.AF_UNIX)
        try:
            one.connect(str(folder / name))
            return one
        except OSError:
            one.close()
            assert time.monotonic() - begun < PATIENCE, f"the virtual machine makes no {name}"
            time.sleep(0.2)


class Machine:
    def __init__(self):
        self.file = connect("qmp").makefile("rw")
        self.file.readline()
        self.does("qmp_capabilities")
        self.touch = connect("touch")

    def does(self, command, **arguments):
        self.file.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self.file.flush()
        while True:
            answer = json.loads(self.file.readline())
            assert "error" not in answer, answer
            if "return" in answer:
                return answer["return"]

    def picture(self):
        """The screen: width, height, bytes of red, green and blue."""
        path = folder / "screen.ppm"
        self.does("screendump", filename=str(path))
        kind, size, most, pixels = path.read_bytes().split(b"\n", 3)
        assert (kind, most) == (b"P6", b"255")
        width, height = map(int, size.split())
        return width, height, pixels

    def keep(self, name):
        self.does("screendump", filename=str(folder / name), format="png")

    def tap(self, x, y):
        """In thousandths of the screen."""
        self.touch.sendall(f"{x} {y}\n".encode())


def log():
    return (folder / "log").read_text(errors="replace").replace("\r", "")


def until(what, so):
    global checks
    begun = time.monotonic()
    while True:
        seen = so()
        if seen:
            checks += 1
            print(f"kiosk: {what}")
            return seen
        text = log()
        assert "the app ended" not in text and "Kernel panic" not in text, text[-3000:]
        assert time.monotonic() - begun < PATIENCE, f"waited for: {what}\n{text[-3000:]}"
        time.sleep(0.5)


def rooms():
    lines = [line.split("kiosk: room ", 1)[1] for line in log().splitlines() if line.startswith("kiosk: room {")]
    return [json.loads(line) for line in lines if line.rstrip().endswith("}")]


def moves():
    return max((len(room.get("record", [])) for room in rooms()), default=0)


machine = Machine()
until("the host is there", lambda: "kiosk: the host is there" in log())
until("a touchscreen is there", lambda: "touchscreen: ready" in log())


def still():
    """The same page twice, with more than a console's few colours."""
    one = machine.picture()
    time.sleep(1)
    other = machine.picture()
    pixels = other[2]
    colours = {pixels[at : at + 3] for at in range(0, len(pixels) - 2, 3)}
    return one == other and len(colours) > 100 and other


page = until("a page is drawn", still)
assert page[:2] == (800, 480), page[:2]
machine.keep("page.png")
machine.tap(*map(int, (folder / "start").read_text().split()))
until("the match is begun by touch", rooms)
board = until("a board is drawn", lambda: (now := still()) and now != page and now)
machine.keep("board.png")
centre = list(map(int, (folder / "centre").read_text().split()))
machine.tap(*centre)
# On small points a stone is placed by the second tap.
until("a stone is shown where it would go", lambda: (now := still()) and now != board)
assert moves() == 0
machine.tap(*centre)
until("a stone is played by touch", lambda: moves() >= 1)
until("the device answers", lambda: moves() >= 2)
until("the answer is drawn", lambda: (now := still()) and now != board)
answer = rooms()[-1]["record"]
assert answer[0] == "h8" and len(answer) == 2, answer
machine.keep("answered.png")
machine.does("quit")
print(f"kiosk: {checks} checks passed")
