"""Trains Go's network by self-play.

    python3 train.py --engine target/release/qiyou-engine --out DIR --seconds 600 --workers 9:10,13:4

Each worker is a process of `qiyou-engine go-net-games`: it requests evaluations of the positions of many games in batches, and
sends the positions of finished games. This program evaluates the batches and, in between, trains on the latest positions. It
uses one GPU; a CPU is only for trying it out. Every minute it writes DIR/network.pt (an average of the latest weights) and
DIR/network.bin.
"""

import argparse
import copy
import math
import os
import select
import struct
import subprocess
import sys
import time

import numpy
import torch
from torch.nn import functional

import network as shape

F_SETPIPE_SZ = 1031


class Worker:
    def __init__(self, engine, size, games, looks, candidates, seed, nice):
        command = [engine, "go-net-games", "--size", size, "--games", games, "--looks", looks]
        command += ["--candidates", candidates, "--seed", seed]
        self.size, self.games, self.area = size, games, size * size
        self.process = subprocess.Popen(
            [str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0,
            preexec_fn=lambda: os.nice(nice),
        )
        self.fd = self.process.stdout.fileno()
        import fcntl

        for fd in (self.fd, self.process.stdin.fileno()):
            try:
                fcntl.fcntl(fd, F_SETPIPE_SZ, 1 << 20)
            except OSError:
                pass
        self.frame = numpy.empty(games * (2 * self.area + 8), numpy.uint8)

    def read(self):
        """Reads a request into `frame`; returns the bytes of finished positions."""
        head = bytearray(8)
        self.fill(memoryview(head))
        length, _ = struct.unpack("<II", head)
        finished = numpy.empty(length, numpy.uint8)
        self.fill(memoryview(finished))
        self.fill(memoryview(self.frame))
        return finished

    def fill(self, view):
        done = 0
        while done < len(view):
            got = os.readv(self.fd, [view[done:]])
            if got == 0:
                raise EOFError("a worker has ended")
            done += got

    def answer(self, numbers):
        view = memoryview(numbers).cast("B")
        done = 0
        fd = self.process.stdin.fileno()
        while done < len(view):
            done += os.write(fd, view[done:])


class Answers:
    """The network for positions of one size, captured as a CUDA graph for each number of workers in a batch."""

    def __init__(self, folded, size, games, most, device):
        self.folded, self.size, self.area, self.games, self.device = folded, size, size * size, games, device
        self.most = most
        self.graphs = {}
        pin = device.type == "cuda"
        rows = games * most
        self.facts_host = torch.zeros(rows, self.area, dtype=torch.int16, pin_memory=pin)
        self.whole_host = torch.zeros(rows, 2, pin_memory=pin)
        self.out_host = torch.zeros(rows, self.area + 2, pin_memory=pin)
        self.facts = self.facts_host.to(device)
        self.whole = self.whole_host.to(device)
        self.out = torch.zeros(rows, self.area + 2, device=device)

    def compute(self, rows):
        planes = shape.unpack(self.facts[:rows], self.size).to(self.folded.dtype)
        if self.device.type == "cuda":
            planes = planes.contiguous(memory_format=torch.channels_last)
        self.out[:rows].copy_(self.folded(planes, self.whole[:rows])[0])

    @torch.no_grad()
    def ask(self, workers):
        rows = len(workers) * self.games
        for n, worker in enumerate(workers):
            at = slice(n * self.games, (n + 1) * self.games)
            cut = 2 * self.area * self.games
            self.facts_host[at] = torch.from_numpy(worker.frame[:cut].view(numpy.int16).reshape(self.games, self.area))
            self.whole_host[at] = torch.from_numpy(worker.frame[cut:].view(numpy.float32).reshape(self.games, 2))
        self.facts[:rows].copy_(self.facts_host[:rows], non_blocking=True)
        self.whole[:rows].copy_(self.whole_host[:rows], non_blocking=True)
        if self.device.type != "cuda":
            self.compute(rows)
        else:
            if rows not in self.graphs:
                self.compute(rows)
                torch.cuda.synchronize()
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph):
                    self.compute(rows)
                self.graphs[rows] = graph
            self.graphs[rows].replay()
        self.out_host[:rows].copy_(self.out[:rows], non_blocking=True)
        if self.device.type == "cuda":
            torch.cuda.current_stream().synchronize()
        numbers = self.out_host.numpy()
        for n, worker in enumerate(workers):
            worker.answer(numbers[n * self.games : (n + 1) * self.games])


class Memory:
    """Replay buffer: the latest positions of one size, as bytes on the device."""

    def __init__(self, size, most, device):
        self.size, self.area, self.most, self.device = size, size * size, most, device
        self.each = 5 * self.area + 18
        self.rows = torch.zeros(most, self.each, dtype=torch.uint8, device=device)
        self.total = 0
        self.owed = 0.0  # positions to learn from until learning has kept up
        n = torch.arange(self.area, device=device).reshape(size, size)
        turned = [torch.rot90(n, k) for k in range(4)]
        self.symmetries = torch.stack([t.flatten() for t in turned + [t.flip(1) for t in turned]])

    def add(self, data):
        rows = torch.from_numpy(data.reshape(-1, self.each)).to(self.device)
        for chunk in rows.split(self.most):
            at = self.total % self.most
            fits = min(len(chunk), self.most - at)
            self.rows[at : at + fits] = chunk[:fits]
            if fits < len(chunk):
                self.rows[: len(chunk) - fits] = chunk[fits:]
            self.total += len(chunk)

    def window(self):
        """Size of the window of latest positions used for training."""
        return min(self.total, self.most, max(100_000, int(0.4 * self.total)))

    def draw(self, count):
        ago = torch.randint(self.window(), (count,), device=self.device)
        return self.rows[(self.total - 1 - ago) % self.most]


class Learner:
    def __init__(self, network, batch, device):
        self.network, self.batch, self.device = network, batch, device
        plain = [p for p in network.parameters() if p.ndim < 2]
        wide = [p for p in network.parameters() if p.ndim >= 2]
        groups = [{"params": wide, "weight_decay": 1e-3}, {"params": plain, "weight_decay": 0.0}]
        self.rate = torch.tensor(1e-3, device=device)
        self.optimizer = torch.optim.AdamW(groups, lr=self.rate, capturable=device.type == "cuda")
        self.mean = copy.deepcopy(network)
        self.steps = 0
        self.recorded = {}

    def slope(self, memory, rows, order):
        area, size = memory.area, memory.size
        facts = rows[:, : 2 * area].contiguous().view(torch.int16)[:, order]
        aims = rows[:, 2 * area : 4 * area + 2].contiguous().view(torch.int16).to(torch.int32) & 0xFFFF
        aims = aims.float() / 65535.0
        aims = torch.cat([aims[:, :area][:, order], aims[:, area:]], 1)
        aims = aims / aims.sum(1, keepdim=True).clamp_min(1e-6)
        numbers = rows[:, 4 * area + 2 : 4 * area + 18].contiguous().view(torch.float32)
        owners = rows[:, 4 * area + 18 :].contiguous().view(torch.int8)[:, order].float()
        planes = shape.unpack(facts, size).float()
        if self.device.type == "cuda":
            planes = planes.contiguous(memory_format=torch.channels_last)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda", cache_enabled=False):
            policy, odds, owned = self.network(planes, numbers[:, :2])
        policy, odds, owned = policy.float(), odds.float(), owned.float()
        chance = 0.7 * numbers[:, 2] + 0.3 * numbers[:, 3]
        policy_loss = -(aims * functional.log_softmax(policy, 1)).sum(1).mean()
        odds_loss = functional.binary_cross_entropy_with_logits(odds, chance)
        owner_loss = functional.binary_cross_entropy_with_logits(2 * owned, (owners + 1) / 2)
        loss = policy_loss + 1.2 * odds_loss + 1.0 * owner_loss
        self.optimizer.zero_grad(set_to_none=False)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 5.0)
        self.optimizer.step()
        entropy = -(aims * aims.clamp_min(1e-9).log()).sum(1).mean()
        return torch.stack([policy_loss, entropy, odds_loss, owner_loss]).detach()

    def step(self, memory):
        rows = memory.draw(self.batch)
        order = memory.symmetries[int(torch.randint(8, (1,)))]
        self.steps += 1
        if self.device.type != "cuda" or self.steps < 20:
            losses = self.slope(memory, rows, order)
        else:
            if memory.size not in self.recorded:
                still = (rows.clone(), order.clone())
                side = torch.cuda.Stream()
                side.wait_stream(torch.cuda.current_stream())
                with torch.cuda.stream(side):
                    for _ in range(3):
                        self.slope(memory, *still)
                torch.cuda.current_stream().wait_stream(side)
                torch.cuda.synchronize()
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph):
                    losses = self.slope(memory, *still)
                self.recorded[memory.size] = (graph, still, losses)
            graph, still, losses = self.recorded[memory.size]
            still[0].copy_(rows)
            still[1].copy_(order)
            graph.replay()
        if self.steps % 20 == 0:
            with torch.no_grad():
                keep = 0.95 if self.steps < 4000 else 0.98
                for mine, theirs in zip(self.mean.state_dict().values(), self.network.state_dict().values()):
                    if mine.dtype.is_floating_point:
                        mine.lerp_(theirs, 1 - keep)
                    else:
                        mine.copy_(theirs)
        return losses


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--engine", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--from", dest="start")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--workers", default="9:2", help="SIZE:PROCESSES, by commas")
    parser.add_argument("--games", type=int, default=512)
    parser.add_argument("--looks", type=int, default=32)
    parser.add_argument("--candidates", type=int, default=16)
    parser.add_argument("--batch", type=int, default=2048)
    parser.add_argument("--often", type=float, default=3.0, help="times that each position is learnt from")
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--last-rate", type=float, default=1e-4)
    parser.add_argument("--channels", type=int, default=48)
    parser.add_argument("--blocks", type=int, default=6)
    parser.add_argument("--keep", type=int, default=3_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--nice", type=int, default=0)
    options = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    torch.backends.cudnn.benchmark = True
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)  # the workers need the others
    begun = time.time()
    net = shape.Network(options.channels, options.blocks).to(device)
    if options.start:
        net = shape.load(options.start, device)
    if device.type == "cuda":
        net = net.to(memory_format=torch.channels_last)
    net.train()
    learner = Learner(net, options.batch, device)
    folded = shape.Folded(learner.mean, torch.float16 if device.type == "cuda" else torch.float32)
    workers, answers, memories = [], {}, {}
    for part in options.workers.split(","):
        size, count = map(int, part.split(":"))
        games = max(64, options.games * 81 // size**2 // 2 * 2)
        for _ in range(count):
            seed = options.seed * 1000 + len(workers)
            workers.append(Worker(options.engine, size, games, options.looks, options.candidates, seed, options.nice))
        memories[size] = Memory(size, options.keep * 81 // size**2 if count else 1, device)
        answers[size] = Answers(folded, size, games, min(4, count), device)
    by_fd = {worker.fd: worker for worker in workers}
    poll = select.poll()
    for fd in by_fd:
        poll.register(fd, select.POLLIN)
    ready = {size: [] for size in memories}
    asked = told = 0
    spent = {"wait": 0.0, "read": 0.0, "answer": 0.0, "learn": 0.0}
    losses = {}
    written = begun

    def write():
        with torch.no_grad():
            shape.save(learner.mean, os.path.join(options.out, "network.pt"))
            shape.export(learner.mean, os.path.join(options.out, "network.bin"))

    while (now := time.time()) - begun < options.seconds:
        part = (now - begun) / options.seconds
        rise = min(1.0, (learner.steps + 1) / 200)
        fall = 0.5 * (1 + math.cos(math.pi * part))
        learner.rate.fill_(rise * (options.last_rate + (options.rate - options.last_rate) * fall))
        waiting = any(ready.values())
        for fd, event in poll.poll(0 if waiting else 1000):
            a = time.time()
            worker = by_fd[fd]
            finished = worker.read()
            memory = memories[worker.size]
            if len(finished):
                before = memory.total
                memory.add(finished)
                memory.owed += (memory.total - before) * options.often
            ready[worker.size].append(worker)
            spent["read"] += time.time() - a
        a = time.time()
        spent["wait"] += a - now
        for size, list in ready.items():
            while list:
                count = min(len(list), answers[size].most)
                count = 1 << (count.bit_length() - 1)
                answers[size].ask(list[:count])
                asked += count * answers[size].games
                del list[:count]
        b = time.time()
        spent["answer"] += b - a
        for memory in memories.values():
            enough = memory.window() >= min(30_000, memory.most) or memory.total > 10 * options.batch
            steps = 0
            while enough and memory.owed > options.batch and steps < 2:
                losses[memory.size] = learner.step(memory)
                memory.owed -= options.batch
                steps += 1
                if learner.steps % 50 == 0:
                    folded.take(learner.mean)
            memory.owed = min(memory.owed, 400 * options.batch)
        spent["learn"] += time.time() - b
        if now - told > 10:
            said = {size: [round(x, 3) for x in loss.tolist()] for size, loss in losses.items()}
            counts = {size: memory.total for size, memory in memories.items()}
            times = {name: round(t, 1) for name, t in spent.items()}
            print(f"{now - begun:.0f} s: {asked} asked, {counts} positions, {learner.steps} steps, {said}, {times}",
                  flush=True)
            told = now
        if now - written > 60:
            write()
            written = now
    write()
    for worker in workers:
        worker.process.kill()
    print("done", learner.steps, "steps")


if __name__ == "__main__":
    sys.exit(main())
