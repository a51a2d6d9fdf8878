"""The pointer of a compositor without devices, through wayvnc (RFB, RFC 6143). Reads lines `tap X Y` and `press X Y` … `release X Y`,
in pixels of the screen, from standard input, and answers each with `ok`.

    rfb.py PORT
"""

import socket
import struct
import sys
import time

# Security type and messages of RFC 6143, sections 7.1.2, 7.5.3 and 7.5.5.
NO_SECURITY = 1
UPDATE_REQUEST = 3
POINTER_EVENT = 5


class Viewer:
    def __init__(self, port):
        self.stream = socket.create_connection(("127.0.0.1", port))
        self.take(12)
        self.stream.sendall(b"RFB 003.008\n")
        offered = self.take(self.take(1)[0])
        if NO_SECURITY not in offered:
            sys.exit("the server wants a password")
        self.stream.sendall(bytes([NO_SECURITY]))
        if self.take(4) != b"\0\0\0\0":
            sys.exit("the server refuses")
        # Shared with other viewers; then the answer: size, pixel format, name.
        self.stream.sendall(b"\1")
        self.take(4 + 16)
        self.take(struct.unpack(">I", self.take(4))[0])
        self.stream.sendall(struct.pack(">BBHHHH", UPDATE_REQUEST, 0, 0, 0, 1, 1))

    def take(self, count):
        data = b""
        while len(data) < count:
            part = self.stream.recv(count - len(data))
            if not part:
                sys.exit("the server has gone")
            data += part
        return data

    def point(self, x, y, button):
        self.stream.sendall(struct.pack(">BBHH", POINTER_EVENT, button, x, y))
        # As a hand: press and release in different frames.
        time.sleep(0.1)


def main():
    viewer = Viewer(int(sys.argv[1]))
    print("ok", flush=True)
    for line in sys.stdin:
        what, x, y = line.split()
        at = int(x), int(y)
        if what == "tap":
            viewer.point(*at, 0)
            viewer.point(*at, 1)
            viewer.point(*at, 0)
        else:
            viewer.point(*at, {"press": 1, "release": 0}[what])
        print("ok", flush=True)


main()
