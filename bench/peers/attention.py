#!/usr/bin/env python3
"""`annulus bench attention` with PyTorch: scaled_dot_product_attention, cuDNN's kernel where it serves the shape (the name says
which), beside attention written out in fp64 on the first tokens: a causal row does not see what follows."""
import re

import torch

import rows as r
import sdpa
from torch_llama import explicit_attention

SHAPES = [(2048, 4, 2, dims) for dims in (32, 64, 128)]
PREFIX = 512


def measured(tokens, heads, kv_heads, dims, type_name, device):
    dtype = r.TYPES[type_name]
    draw = lambda count: torch.randn(1, tokens, count, dims, device=device).to(dtype)
    q, k, v = (draw(count).requires_grad_() for count in (heads, kv_heads, kv_heads))
    dout = draw(heads)
    name, context, attention = sdpa.chosen(device, dtype, heads, kv_heads, dims)
    shape = f"{tokens} x {heads}:{kv_heads} x {dims}"
    amount = lambda products: 1e-9 * products * tokens**2 * dims * heads

    with context():
        n = min(tokens, PREFIX)
        visible = torch.ones(n, n, dtype=torch.bool, device=device).tril()[None]
        wide = [x.detach()[:, :n].double().requires_grad_() for x in (q, k, v)]
        expected = explicit_attention(visible)(*wide)
        cut = [x.detach()[:, :n].clone().requires_grad_() for x in (q, k, v)]
        found = attention(*cut)
        error = r.checked(f"attention {shape}[{name}], the whole", type_name, attention(q, k, v)[:, :n], expected)
        gradients = torch.autograd.grad(found, cut, dout[:, :n])
        error = max(error, r.checked(f"attention {shape}[{name}], gradients of {n} tokens", type_name, gradients,
                                     torch.autograd.grad(expected, wide, dout[:, :n].double())))

        def forward():
            with torch.no_grad():
                attention(q, k, v)

        both = lambda: torch.autograd.grad(attention(q, k, v), (q, k, v), dout)
        return [r.row(f"{what}[{name}]", type_name, shape, r.median_seconds(device, call, 9), amount(products), "GFLOP/s", error)
                for what, call, products in (("forward", forward, 2), ("fwd+bwd", both, 7))]


def main():
    options = r.parser(__doc__).parse_args()
    like = r.begin(options)
    wanted = [(*shape, type_name) for shape in SHAPES for type_name in ("fp32", "bf16")]
    if like:
        sizes = lambda row: tuple(map(int, re.match(r"(\d+) x (\d+):(\d+) x (\d+)", row["shape"]).groups()))
        wanted = list(dict.fromkeys((*sizes(row), row["type"]) for row in like if row["name"].startswith(("forward[", "fwd+bwd["))))
    r.finish(options, "attention", [row for shape in wanted for row in measured(*shape, options.device)])


if __name__ == "__main__":
    main()
