#!/usr/bin/env python3
"""`annulus bench step --deck DECK` with PyTorch: the deck's optimizer step on random tokens, on one device.

The model through torch.compile, attention by scaled_dot_product_attention (cuDNN's kernel where it serves the shape; the row's
name says which), fused AdamW, no autocast: with precision.compute = "bf16", parameters and gradients are bf16 and a master, on
which clipping and AdamW work, is fp32. First the same model with two layers is compared with its eager loss and gradients, and the
whole model's loss with its eager one.

  bench/peers/step.py inputs/bluscript-0.5b.toml --set mesh.ring=1 --set train.tokens_per_step=16384 --set precision.compute=bf16
  ... --profile     no rows: time by kernel and class, and the sum of all but attention
"""
import collections
import contextlib
import dataclasses
import pathlib
import re
import sys
import tomllib

import torch

import rows as r
import sdpa
from torch_llama import Llama, resolved, shape_of

BYTES = 257  # ids of a byte tokenizer, where the deck has no vocabulary
WARM_UP, STEPS = 2, 9
# Compiled gradients beside eager ones: fused operators skip roundings, and bf16 gradients are up to 0.05 away from exact ones
# either way (docs/verification.md, beside PyTorch).
GRADIENT_LIMITS = {"fp32": 1e-4, "fp64": 1e-12, "bf16": 0.1}
# the first that matches a kernel's name
CLASSES = {"attention": "attention|flash|fmha|sdpa", "optimizer": "adam|optimizer|multi_tensor|lpnorm",
           "gemm": r"gemm|cutlass|nvjet|cublas|splitK|matmul|addmm|::mm|::bmm|::linear|mkldnn",
           "norm/elementwise": "triton|elementwise|reduce|softmax|nll_loss|embedding|cpp_fused|graph_"}


def deck_of(options):
    deck = resolved(pathlib.Path(options.deck).read_text())
    for setting in options.set:
        key, _, value = setting.partition("=")
        block, _, name = key.partition(".")
        try:
            value = tomllib.loads(f"v = {value}")["v"]
        except tomllib.TOMLDecodeError:
            pass  # a text without quotes
        deck.setdefault(block, {})[name] = value
    mesh = deck.get("mesh", {})
    if any(mesh.get(name, 1) != 1 for name in ("dp", "ring", "ulysses")):
        sys.exit("this is one device: --set mesh.ring=1 (and mesh.dp=1, mesh.ulysses=1)")
    if deck["attention"]["mask"] != "causal" or deck["attention"]["window"]:
        sys.exit("this model's attention is causal, without a window")
    return deck


class Training:
    """Parameters, their fp32 master where they are bf16, and a step on them."""

    def __init__(self, shape, deck, dtype, device, attention, compile_blocks, mode):
        self.clip = deck["train"]["clip"]
        self.attention = attention
        self.model = Llama(shape).to(device).initialise().to(dtype)
        self.parameters = list(self.model.parameters())
        self.apart = dtype == torch.bfloat16
        self.masters = [p.detach().float().requires_grad_() for p in self.parameters] if self.apart else self.parameters
        o = deck["optimizer"]
        groups = [{"params": [p for p in self.masters if p.dim() == 2], "weight_decay": o["decay"]},
                  {"params": [p for p in self.masters if p.dim() < 2], "weight_decay": 0.0}]
        self.optimizer = torch.optim.AdamW(groups, lr=1e-4, betas=(o["beta1"], o["beta2"]), eps=o["eps"], fused=True)
        if self.apart:
            for master in self.masters:
                master.grad = torch.empty_like(master)
        if compile_blocks:
            for block in self.model.blocks:
                block.compile(mode=mode)
        self.compiled = self.model if compile_blocks else torch.compile(self.model, mode=mode)

    def loss(self, model, batch):
        tokens, labels, positions = batch
        return model(tokens, labels, positions, self.attention) / labels.numel()

    def gradients(self, model, batch):
        for p in self.parameters:
            p.grad = None
        self.loss(model, batch).backward()
        return [p.grad for p in self.parameters]

    def step(self, batches):
        for p in self.parameters:
            p.grad = None
        for batch in batches:
            (self.loss(self.compiled, batch) / len(batches)).backward()
        if self.apart:
            torch._foreach_copy_([m.grad for m in self.masters], [p.grad for p in self.parameters])
        if self.clip > 0:
            torch.nn.utils.clip_grad_norm_(self.masters, self.clip, foreach=True)
        self.optimizer.step()
        if self.apart:
            with torch.no_grad():
                torch._foreach_copy_(self.parameters, self.masters)


def kernel_table(training, batches, device):
    """Milliseconds of one step by kernel (on a CPU: by operator), and the sums of the classes."""
    activities = [torch.profiler.ProfilerActivity.CPU if device == "cpu" else torch.profiler.ProfilerActivity.CUDA]
    count = 3
    with torch.profiler.profile(activities=activities) as profile:
        for _ in range(count):
            training.step(batches)
        if device != "cpu":
            torch.cuda.synchronize()
    found = []
    for event in profile.key_averages():
        time = event.self_cpu_time_total if device == "cpu" else event.self_device_time_total
        if time > 0 and (device == "cpu" or event.device_type == torch.autograd.DeviceType.CUDA):
            kind = next((name for name, pattern in CLASSES.items() if re.search(pattern, event.key, re.I)), "other")
            found.append((time / count / 1e3, event.count / count, kind, event.key))
    sums = collections.Counter()
    print(f"{'ms':>9} {'calls':>7}  {'class':17} kernel")
    for time, calls, kind, name in sorted(found, reverse=True):
        sums[kind] += time
        print(f"{time:9.3f} {calls:7.1f}  {kind:17} {name[:110]}")
    print()
    for kind, time in sums.most_common():
        print(f"{time:9.3f} ms  {kind}")
    print(f"{sum(sums.values()) - sums['attention']:9.3f} ms  all but attention")
    print(f"{sum(sums.values()):9.3f} ms  all")


def main():
    parser = r.parser(__doc__)
    parser.add_argument("deck")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="as of the program")
    parser.add_argument("--profile", action="store_true", help="print time by kernel and class instead of rows")
    parser.add_argument("--blocks", action="store_true", help="compile one block instead of the whole model: compiles faster")
    parser.add_argument("--mode", default="default", help="of torch.compile")
    options = parser.parse_args()
    r.begin(options)
    deck, device = deck_of(options), options.device
    type_name = deck["precision"]["compute"]
    dtype, shape, length = r.TYPES[type_name], shape_of(deck, BYTES), deck["data"]["sequence_length"]
    micro_batch = deck["train"]["micro_batch"]
    per_step = deck["train"].get("tokens_per_step") or micro_batch * length
    accumulation = per_step // (micro_batch * length)

    def batch():
        ids = torch.randint(shape.vocabulary, (micro_batch, length + 1), device=device)
        return ids[:, :-1].contiguous(), ids[:, 1:].contiguous(), torch.arange(length, device=device)[None]

    kernel, context, attention = sdpa.chosen(device, dtype, shape.heads, shape.kv_heads, shape.head_dim)
    make = lambda shape: Training(shape, deck, dtype, device, attention, options.blocks, options.mode)
    with context():
        small, example = make(dataclasses.replace(shape, layers=min(shape.layers, 2))), batch()
        eager_model = lambda training: contextlib.nullcontext() if not options.blocks else torch.compiler.set_stance("force_eager")
        found = [g.clone() for g in small.gradients(small.compiled, example)]
        with eager_model(small):
            expected = small.gradients(small.model, example)
        error = r.checked("gradients of two layers", type_name, found, expected, GRADIENT_LIMITS[type_name])
        del small, found, expected
        training = make(shape)
        found = training.loss(training.compiled, example).detach()  # with gradients: they are another compilation
        with torch.no_grad(), eager_model(training):
            error = max(error, r.checked("loss", type_name, found, training.loss(training.model, example)))

        batches = [batch() for _ in range(accumulation)]
        timer = r.Timer(device)
        seconds = [timer(lambda: training.step(batches)) for _ in range(WARM_UP + STEPS)][WARM_UP:]
        if options.profile:
            return kernel_table(training, batches, device)

    count = sum(p.numel() for p in training.parameters)
    operations = 6 * count + 12 * 0.5 * length * shape.layers * shape.heads * shape.head_dim  # per token, as ours counts
    tokens = accumulation * micro_batch * length
    time = r.median(seconds)
    name, what = f"step[{kernel}]", f"T {length}, {tokens} tokens"
    r.finish(options, "step", [r.row(name, type_name, what, time, tokens, "tokens/s", error),
                               r.row(name, type_name, what, time, 1e-9 * tokens * operations, "GFLOP/s", error)])


if __name__ == "__main__":
    main()
