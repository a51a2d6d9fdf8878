"""A bad cable: two Ethernet interfaces, and every frame between them late, out of order or never.

    cable.py ONE OTHER DELAY_MS JITTER_MS LOSS_PERCENT

What `tc netem` does, for kernels without it. Each frame waits DELAY_MS, more or less up to JITTER_MS, so that frames overtake
each other; LOSS_PERCENT of them are dropped. It says "ready" when both interfaces are there, and they go with it when its input
ends. Then it says how many frames it carried and how many it lost.
"""

import fcntl
import heapq
import os
import random
import select
import struct
import sys
import time

# linux/if_tun.h
TUNSETIFF = 0x400454CA
IFF_TAP, IFF_NO_PI = 0x0002, 0x1000
# A frame of the largest size that a tap gives, with room.
LARGEST = 65536


def tap(name):
    file = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(file, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI))
    return file


def main():
    one, other = tap(sys.argv[1]), tap(sys.argv[2])
    delay, jitter, loss = (float(word) for word in sys.argv[3:6])
    across = {one: other, other: one}
    # The same frames are lost each time, as far as they come in the same order.
    chance = random.Random(8)
    waiting, carried, lost = [], 0, 0
    print("ready", flush=True)
    while True:
        patience = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
        for file in select.select([one, other, 0], [], [], patience)[0]:
            if file == 0:
                print(f"carried {carried} lost {lost}", flush=True)
                return
            try:
                frame = os.read(file, LARGEST)
            except OSError:
                # Its interface is down.
                continue
            if chance.uniform(0, 100) < loss:
                lost += 1
                continue
            carried += 1
            due = time.monotonic() + max(0.0, delay + chance.uniform(-jitter, jitter)) / 1000
            heapq.heappush(waiting, (due, carried, across[file], frame))
        while waiting and waiting[0][0] <= time.monotonic():
            _, _, file, frame = heapq.heappop(waiting)
            try:
                os.write(file, frame)
            except OSError:
                pass


main()
