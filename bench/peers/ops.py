#!/usr/bin/env python3
"""`annulus bench ops` with PyTorch: each operator through torch.compile, beside its eager result; AdamW is torch.optim's fused one.
Rates count the bytes that ours counts."""
import torch
import torch._functorch.config
import torch.nn.functional as F

import rows as r
from torch_llama import rms_norm, rope_table, rotated, widened

TOKENS, WIDTH, VOCABULARY = 8192, 1024, 256
HEADS, KV_HEADS, HEAD_DIM = 8, 4, 64
EPS = 1e-5
torch._functorch.config.donated_buffer = False  # a backward pass is timed by repeating it


def swiglu(gate_up):
    gate, up = gate_up.chunk(2, -1)
    return (F.silu(widened(gate)) * widened(up)).to(gate_up.dtype)


def residual_norm(x, branch, gain):
    total = x + branch
    return total, rms_norm(total, gain, EPS)


def qk_norm_rope(qkv, q_gain, k_gain, cosines, sines):
    q, k, v = qkv.view(1, -1, HEADS + 2 * KV_HEADS, HEAD_DIM).split((HEADS, KV_HEADS, KV_HEADS), 2)
    return (rotated(rms_norm(q, q_gain, EPS), cosines, sines), rotated(rms_norm(k, k_gain, EPS), cosines, sines), v.clone())


class Rows:
    def __init__(self, type_name, tokens, width, device):
        self.type_name, self.tokens, self.width, self.device = type_name, tokens, width, device
        self.dtype = r.TYPES[type_name]
        self.size, self.state_size = self.dtype.itemsize, 4
        self.rows = []
        source = torch.ones(tokens, width, device=device)
        target = torch.empty_like(source)
        self.copy_rate = 2e-9 * source.nbytes / r.median_seconds(device, lambda: target.copy_(source))

    def draw(self, *shape):
        return torch.randn(*shape, device=self.device).to(self.dtype)

    def add(self, name, columns, nbytes, call, error):
        seconds = r.median_seconds(self.device, call)
        self.rows.append(r.row(name, self.type_name, f"{self.tokens} x {columns}", seconds, 1e-9 * nbytes, "GB/s", error,
                               "copy", self.copy_rate))

    def pair(self, name, function, inputs, trained, columns, forward_bytes, backward_bytes):
        """Forward and, where bytes are given for it, backward. `trained`: how many of the inputs, from the first, have gradients."""
        torch._dynamo.reset()
        compiled = torch.compile(function)
        inputs = [x.requires_grad_() if n < trained else x for n, x in enumerate(inputs)]
        out, eager = compiled(*inputs), function(*inputs)
        error = r.checked(f"{name} forward", self.type_name, out, eager)

        def forward():
            with torch.no_grad():
                compiled(*inputs)

        forward()
        self.add(f"{name} forward", columns, forward_bytes, forward, error)
        if not backward_bytes:
            return
        out = r.tensors(out)
        douts = [self.draw(*x.shape) for x in out]
        backward = lambda outs: torch.autograd.grad(outs, inputs[:trained], douts, retain_graph=True)
        error = r.checked(f"{name} backward", self.type_name, backward(out), backward(r.tensors(eager)))
        self.add(f"{name} backward", columns, backward_bytes, lambda: backward(out), error)

    def measure(self):
        t, w, array = self.tokens, self.width, self.tokens * self.width * self.size
        gain = lambda n: 1 + 0.1 * self.draw(n)
        self.pair("rms_norm", lambda x, g: rms_norm(x, g, EPS), [self.draw(t, w), gain(w)], 2, w, 2 * array, 3 * array)
        self.pair("residual_norm", residual_norm, [self.draw(t, w), self.draw(t, w), gain(w)], 3, w, 4 * array, 0)
        self.pair("swiglu", swiglu, [self.draw(t, 2 * w)], 1, w, 3 * array, 5 * array)
        qkv_width = (HEADS + 2 * KV_HEADS) * HEAD_DIM
        heads = t * qkv_width
        table = rope_table(torch.arange(t, device=self.device)[None], HEAD_DIM, 10000.0, torch.float32)
        self.pair("qk_norm_rope", qk_norm_rope, [self.draw(t, qkv_width), gain(HEAD_DIM), gain(HEAD_DIM), *table], 3, qkv_width,
                  2 * heads * self.size, heads * (2 * self.size + self.state_size))
        ids = torch.arange(t, device=self.device).square() % 251 % VOCABULARY
        self.pair("embedding", lambda table, ids: F.embedding(ids, table), [self.draw(VOCABULARY, w), ids], 1, w, array, array)
        self.optimizer()
        return self.rows

    def optimizer(self):
        count = self.tokens * self.width
        master = torch.nn.Parameter(torch.randn(count, device=self.device))
        master.grad = torch.randn_like(master)
        plain = torch.nn.Parameter(master.detach().clone())
        plain.grad = master.grad
        settings = dict(lr=1e-3, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1)
        fused, eager = torch.optim.AdamW([master], fused=True, **settings), torch.optim.AdamW([plain], foreach=False, **settings)
        fused.step(), eager.step()
        error = r.checked("adamw", "fp32", master, plain)
        compute = master if self.dtype == torch.float32 else torch.empty_like(master, dtype=self.dtype)

        def step():
            fused.step()
            if compute is not master:
                compute.copy_(master.detach())

        apart = 0 if compute is master else self.size
        self.add("adamw", self.width, count * (7 * self.state_size + apart), step, error)
        if compute is master:
            norm = lambda: torch.linalg.vector_norm(master.grad)
            error = r.checked("squared norm", "fp32", norm(), torch.linalg.vector_norm(master.grad.double()))
            self.add("squared norm", self.width, count * self.state_size, norm, error)


def main():
    options = r.parser(__doc__).parse_args()
    like = r.begin(options)
    sizes = [tuple(map(int, row["shape"].split(" x "))) for row in like if row["name"] == "rms_norm forward"] or [(TOKENS, WIDTH)]
    types = dict.fromkeys(row["type"] for row in like) or ("fp32", "bf16")
    r.finish(options, "ops", [row for t, w in dict.fromkeys(sizes) for name in types
                              for row in Rows(name, t, w, options.device).measure()])


if __name__ == "__main__":
    main()
