"""The Llama family of docs/deck.md written in plain PyTorch, apart from the program: what tools/torch_parity.py and
bench/peers compare it with.

Per block, with n = rms_norm(x):  mid = x + attention(n Wqkv^T) Wo^T;  x' = mid + swiglu(norm(mid) Wgu^T) Wd^T
"""
import dataclasses
import tomllib

import torch
import torch.nn.functional as F
from torch import nn


@dataclasses.dataclass
class Shape:
    layers: int
    width: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    vocabulary: int
    tied: bool
    qk_norm: bool
    norm_eps: float
    theta: float


def resolved(text):
    """A deck's text as a dict of blocks; keys that it leaves out have the program's defaults (docs/deck.md)."""
    defaults = {
        "model": dict(family="llama", layers=12, width=768, heads=12, kv_heads=4, head_dim=64, ffn=0, vocabulary=0,
                      tied=True, qk_norm=True, norm_eps=1e-5),
        "rope": dict(theta=10000.0, scaling="none"),
        "attention": dict(mask="causal", window=0),
        "data": dict(sequence_length=1024, pack="contiguous", restart_positions=False),
        "train": dict(micro_batch=1, clip=1.0),
        "optimizer": dict(beta1=0.9, beta2=0.95, decay=0.1, eps=1e-8),
        "precision": dict(compute="fp32"),
    }
    deck = tomllib.loads(text)
    for block, keys in defaults.items():
        deck[block] = keys | deck.get(block, {})
    if deck["model"]["family"] != "llama" or deck["rope"]["scaling"] != "none":
        raise SystemExit(f"this model has no {deck['model']['family']} with rope scaling {deck['rope']['scaling']}")
    return deck


def shape_of(deck, vocabulary=0):
    """`vocabulary`: of the data, where the deck does not say one."""
    m = deck["model"]
    names = ("layers", "width", "heads", "kv_heads", "head_dim", "tied", "qk_norm", "norm_eps")
    return Shape(**{name: m[name] for name in names}, theta=float(deck["rope"]["theta"]),
                 ffn=m["ffn"] or (8 * m["width"] // 3 + 255) // 256 * 256, vocabulary=m["vocabulary"] or vocabulary)


def widened(x):
    """For sums over a row: fp32 for 16-bit types, else as it is."""
    return x.float() if x.dtype in (torch.bfloat16, torch.float16) else x


def rms_norm(x, gain, eps):
    wide = widened(x)
    return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps) * widened(gain)).to(x.dtype)


def rotated(x, cosines, sines):
    """Halves k and k + d/2 form a pair.   x (B, T, H, d); cosines, sines (B or 1, T, 1, d / 2)"""
    a, b = widened(x).chunk(2, -1)
    return torch.cat((a * cosines - b * sines, b * cosines + a * sines), -1).to(x.dtype)


def rope_table(positions, head_dim, theta, dtype):
    """cos, sin of position * theta^(-2 k / d), formed in fp64.   positions (B or 1, T)"""
    frequencies = theta ** (-torch.arange(0, head_dim, 2, dtype=torch.float64, device=positions.device) / head_dim)
    angles = (positions.double()[..., None] * frequencies)[:, :, None, :]
    return angles.cos().to(dtype), angles.sin().to(dtype)


def explicit_attention(visible):
    """Softmax written out, with GQA by groups.   visible (B or 1, T, T) bool: query i sees key j"""

    def attention(q, k, v):
        """q (B, T, Hq, d), k, v (B, T, Hkv, d) -> (B, T, Hq, d)"""
        rows, tokens, heads, dims = q.shape
        group = heads // k.shape[2]
        q = q.reshape(rows, tokens, k.shape[2], group, dims)
        logits = widened(torch.einsum("bikgd,bjkd->bkgij", q, k)) * dims**-0.5
        weights = logits.masked_fill(~visible[:, None, None], -torch.inf).softmax(-1).to(q.dtype)
        return torch.einsum("bkgij,bjkd->bikgd", weights, v).reshape(rows, tokens, heads, dims)

    return attention


class Block(nn.Module):
    def __init__(self, s):
        super().__init__()
        q_width, kv_width = s.heads * s.head_dim, s.kv_heads * s.head_dim
        self.shape = s
        self.attention_norm, self.ffn_norm = (nn.Parameter(torch.ones(s.width)) for _ in range(2))
        if s.qk_norm:
            self.q_norm, self.k_norm = (nn.Parameter(torch.ones(s.head_dim)) for _ in range(2))
        self.qkv = nn.Parameter(torch.empty(q_width + 2 * kv_width, s.width))
        self.out = nn.Parameter(torch.empty(s.width, q_width))
        self.gate_up = nn.Parameter(torch.empty(2 * s.ffn, s.width))
        self.down = nn.Parameter(torch.empty(s.width, s.ffn))

    def forward(self, x, table, attention):
        s = self.shape
        rows, tokens, _ = x.shape
        qkv = F.linear(rms_norm(x, self.attention_norm, s.norm_eps), self.qkv).view(rows, tokens, -1, s.head_dim)
        q, k, v = qkv.split((s.heads, s.kv_heads, s.kv_heads), 2)
        if s.qk_norm:
            q, k = rms_norm(q, self.q_norm, s.norm_eps), rms_norm(k, self.k_norm, s.norm_eps)
        seen = attention(rotated(q, *table), rotated(k, *table), v).reshape(rows, tokens, -1)
        x = x + F.linear(seen, self.out)
        gate, up = F.linear(rms_norm(x, self.ffn_norm, s.norm_eps), self.gate_up).chunk(2, -1)
        return x + F.linear((F.silu(widened(gate)) * widened(up)).to(x.dtype), self.down)


class Llama(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.shape = shape
        self.embedding = nn.Parameter(torch.empty(shape.vocabulary, shape.width))
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.final_norm = nn.Parameter(torch.ones(shape.width))
        self.head = self.embedding if shape.tied else nn.Parameter(torch.empty(shape.vocabulary, shape.width))

    def initialise(self, seed=1):
        generator = torch.Generator(self.embedding.device).manual_seed(seed)
        for parameter in self.parameters():
            if parameter.dim() == 2:
                nn.init.normal_(parameter, std=0.02, generator=generator)
        return self

    def forward(self, tokens, labels, positions, attention, each_block=None):
        """Sum of nll over the labels that are not -1.   tokens, labels (B, T); positions (B or 1, T)

        each_block(block, x, ...): calls a block, for whoever wants to do more than that.
        """
        table_type = torch.float64 if self.embedding.dtype == torch.float64 else torch.float32
        table = rope_table(positions, self.shape.head_dim, self.shape.theta, table_type)
        x = F.embedding(tokens, self.embedding)
        for block in self.blocks:
            x = each_block(block, x, table, attention) if each_block else block(x, table, attention)
        logits = F.linear(rms_norm(x, self.final_norm, self.shape.norm_eps), self.head)
        return F.cross_entropy(widened(logits).flatten(0, 1), labels.flatten(), ignore_index=-1, reduction="sum")

    def named_parts(self):
        """Names as in our checkpoints -> (parameter, its rows)."""
        s = self.shape
        q, kv = s.heads * s.head_dim, s.kv_heads * s.head_dim
        whole = slice(None)
        parts = {"embedding.weight": (self.embedding, whole), "final_norm.gain": (self.final_norm, whole)}
        if not s.tied:
            parts["head.weight"] = (self.head, whole)
        for n, block in enumerate(self.blocks):
            gains = {"attention_norm.gain": block.attention_norm, "ffn_norm.gain": block.ffn_norm}
            if s.qk_norm:
                gains |= {"attention.q_norm.gain": block.q_norm, "attention.k_norm.gain": block.k_norm}
            layer = {name: (gain, whole) for name, gain in gains.items()}
            layer["attention.q.weight"] = block.qkv, slice(0, q)
            layer["attention.k.weight"] = block.qkv, slice(q, q + kv)
            layer["attention.v.weight"] = block.qkv, slice(q + kv, q + 2 * kv)
            layer["attention.out.weight"] = block.out, whole
            layer["ffn.gate.weight"] = block.gate_up, slice(0, s.ffn)
            layer["ffn.up.weight"] = block.gate_up, slice(s.ffn, 2 * s.ffn)
            layer["ffn.down.weight"] = block.down, whole
            parts |= {f"layers.{n}.{name}": part for name, part in layer.items()}
        return parts
