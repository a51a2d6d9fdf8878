"""The architecture of Go's network, and its export for the engine.

One network serves all board sizes: 3 x 3 convolutions, and global pooling (mean and maximum) where the whole board matters.
`export` folds the batch normalisation into the weights, so that the engine needs no normalisation.
"""

import struct

import torch
from torch import nn
from torch.nn import functional

FACTS = 9  # bits of each point, engine/src/go/net/planes.rs
WHOLE = 2
PLAIN_SIZE = 13  # sizes are told to the network as (size - 13) / 6


class Block(nn.Module):
    """A residual block of two convolutions; with `pooled`, global pooling adds a bias to every point."""

    def __init__(self, channels, pooled):
        super().__init__()
        self.one = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm_one = nn.BatchNorm2d(channels)
        self.two = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm_two = nn.BatchNorm2d(channels)
        self.pool = nn.Linear(3 * channels, channels) if pooled else None
        nn.init.constant_(self.norm_two.weight, 0.3)

    def forward(self, x):
        y = functional.relu(self.norm_one(self.one(x)))
        if self.pool is not None:
            y = y + self.pool(pooled(y))[:, :, None, None]
        return functional.relu(x + self.norm_two(self.two(y)))


def pooled(x):
    mean = x.mean((2, 3))
    return torch.cat([mean, mean * ((x.shape[3] - PLAIN_SIZE) / 6), x.amax((2, 3))], 1)


class Network(nn.Module):
    def __init__(self, channels=48, blocks=6, hidden=48, policy=24):
        super().__init__()
        self.shape = (channels, blocks, hidden, policy)
        self.first = nn.Conv2d(FACTS, channels, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(channels)
        self.whole = nn.Linear(WHOLE, channels)
        self.blocks = nn.ModuleList(Block(channels, n % 2 == 1) for n in range(blocks))
        self.hidden = nn.Linear(3 * channels + WHOLE, hidden)
        self.policy = nn.Conv2d(channels, policy, 1)
        self.policy_whole = nn.Linear(hidden, policy, bias=False)
        self.policy_out = nn.Conv2d(policy, 1, 1, bias=False)
        self.owner = nn.Conv2d(channels, 1, 1)
        self.out = nn.Linear(hidden, 2)  # pass, odds of the side to move
        self.by_points = nn.Parameter(torch.tensor(0.05))

    def forward(self, planes, whole):
        """Policy logits of points and pass, value logit, ownership logits (-1 to 1)."""
        x = functional.relu(self.norm(self.first(planes)) + self.whole(whole)[:, :, None, None])
        for block in self.blocks:
            x = block(x)
        h = functional.relu(self.hidden(torch.cat([pooled(x), whole], 1)))
        p = functional.relu(self.policy(x) + self.policy_whole(h)[:, :, None, None])
        points = self.policy_out(p).flatten(1)
        owners = self.owner(x).flatten(1)
        end = self.out(h)
        # The score in points; komi / 10 is the first global input.
        ahead = torch.tanh(owners).sum(1) + 10.0 * whole[:, 0]
        return torch.cat([points, end[:, :1]], 1), end[:, 1] + self.by_points * ahead, owners


def unpack(facts, size):
    """Unpacks bits to planes of 0 and 1."""
    bits = torch.arange(FACTS, device=facts.device, dtype=torch.int32)
    planes = (facts.to(torch.int32)[:, None, :] >> bits[None, :, None]) & 1
    return planes.reshape(facts.shape[0], FACTS, size, size)


def folded(conv, norm):
    """Weights and bias of a convolution with its batch normalisation folded in."""
    scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
    return conv.weight * scale[:, None, None, None], norm.bias - norm.running_mean * scale


class Folded:
    """The network for inference: fixed tensors that `take` overwrites, so that a captured CUDA graph uses the new weights."""

    def __init__(self, network, dtype):
        self.dtype = dtype
        self.tensors = [t.detach().to(dtype).clone() for t in parts(network)]
        self.tensors = [t.contiguous(memory_format=torch.channels_last) if t.ndim == 4 else t for t in self.tensors]
        self.shape = network.shape

    def take(self, network):
        for mine, theirs in zip(self.tensors, parts(network)):
            mine.copy_(theirs)

    def __call__(self, planes, whole):
        t = iter(self.tensors)
        planes, whole = planes.to(self.dtype), whole.to(self.dtype)
        x = functional.conv2d(planes, next(t), next(t), padding=1)
        x = functional.relu_(x + functional.linear(whole, next(t), next(t))[:, :, None, None])
        for n in range(self.shape[1]):
            y = functional.relu_(functional.conv2d(x, next(t), next(t), padding=1))
            if n % 2 == 1:
                y = y + functional.linear(pooled(y), next(t), next(t))[:, :, None, None]
            x = functional.relu_(functional.conv2d(y, next(t), next(t), padding=1).add_(x))
        h = functional.relu_(functional.linear(torch.cat([pooled(x), whole], 1), next(t), next(t)))
        p = functional.conv2d(x, next(t), next(t))
        p = functional.relu_(p + functional.linear(h, next(t))[:, :, None, None])
        points = functional.conv2d(p, next(t)).flatten(1)
        owners = functional.conv2d(x, next(t), next(t)).flatten(1).float()
        end = functional.linear(h, next(t), next(t)).float()
        ahead = torch.tanh(owners).sum(1) + 10.0 * whole[:, 0].float()
        odds = end[:, 1] + next(t).float() * ahead
        return torch.cat([points.float(), end[:, :1], odds[:, None]], 1), owners


def parts(network):
    """All tensors, in the order of use."""
    out = [*folded(network.first, network.norm), network.whole.weight, network.whole.bias]
    for block in network.blocks:
        out += folded(block.one, block.norm_one)
        if block.pool is not None:
            out += [block.pool.weight, block.pool.bias]
        out += folded(block.two, block.norm_two)
    out += [network.hidden.weight, network.hidden.bias, network.policy.weight, network.policy.bias]
    out += [network.policy_whole.weight, network.policy_out.weight]
    out += [network.owner.weight, network.owner.bias, network.out.weight, network.out.bias]
    return out + [network.by_points]


def export(network, path):
    """The engine's file: four magic bytes, the four sizes, then each tensor as 16-bit floats."""
    with open(path, "wb") as file:
        file.write(b"QGN1" + struct.pack("<4H", *network.shape))
        for tensor in parts(network):
            file.write(tensor.detach().float().cpu().numpy().astype("<f2").tobytes())


def load(path, device="cpu"):
    kept = torch.load(path, map_location=device, weights_only=True)
    network = Network(*kept["shape"]).to(device)
    network.load_state_dict(kept["weights"])
    return network


def save(network, path):
    torch.save({"shape": list(network.shape), "weights": network.state_dict()}, path)


if __name__ == "__main__":
    import sys

    network = load(sys.argv[1]).eval()
    export(network, sys.argv[2])
    print(sum(p.numel() for p in network.parameters()), "weights")
