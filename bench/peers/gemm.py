#!/usr/bin/env python3
"""`annulus bench gemm` with PyTorch: torch.mm (cuBLAS on a GPU, oneDNN on a CPU), beside the product in fp64.

Results are written in the operands' type, as PyTorch trains; ours writes bf16 products in fp32 where the model needs that.
"""
import torch

import rows as r

SHAPES = [(4096, 256, 768), (4096, 768, 768), (4096, 768, 2304)]  # tokens, from, to


def of_layer(tokens, source, target):
    return [("forward", tokens, target, source), ("input gradient", tokens, source, target),
            ("weight gradient", target, source, tokens)]


def operands(name, m, n, k, dtype, device):
    """As the layer has them in memory: weights (out, in), activations (tokens, features)."""
    draw = lambda *shape: torch.randn(*shape, device=device).to(dtype)
    a = draw(k, m).t() if name == "weight gradient" else draw(m, k)
    b = draw(n, k).t() if name == "forward" else draw(k, n)
    return a, b


def main():
    options = r.parser(__doc__).parse_args()
    like = r.begin(options)
    wanted = [(row["name"], row["type"], *map(int, row["shape"].split(" x "))) for row in like if row["name"] in
              ("forward", "input gradient", "weight gradient")]
    if not like:
        wanted = [(name, type_name, *sizes) for shape in SHAPES for name, *sizes in of_layer(*shape) for type_name in ("fp32", "bf16")]
    rows = []
    for name, type_name, m, n, k in wanted:
        a, b = operands(name, m, n, k, r.TYPES[type_name], options.device)
        error = r.checked(f"{name} {m} x {n} x {k}", type_name, torch.mm(a, b), a.double() @ b.double())
        seconds = r.median_seconds(options.device, lambda: torch.mm(a, b))
        rows.append(r.row(name, type_name, f"{m} x {n} x {k}", seconds, 2e-9 * m * n * k, "GFLOP/s", error))
    r.finish(options, "gemm", rows)


if __name__ == "__main__":
    main()
