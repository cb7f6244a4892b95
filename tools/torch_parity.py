#!/usr/bin/env python3
"""Compares our loss and every gradient with PyTorch's, on the same parameters and tokens.

  annulus gradients DECK --out gradients.h5          (any build, any mesh; --checkpoint FILE, else the run's newest)
  tools/torch_parity.py CHECKPOINT gradients.h5      [--device cuda] [--json]

tools/torch_llama.py is the model, and this file makes labels, positions and mask from the tokens anew: neither shares a
line with the program. The measure is ||a - b|| / max(||b||, 1e-3 ||all gradients||) per tensor.
  fp32   beside PyTorch in fp32: 1e-4, loss too       fp64   beside PyTorch in fp64: 1e-10
  bf16   beside PyTorch in fp64 on the same bf16 parameters: within the kind's budget, and
         within twice the error of PyTorch's own bf16 gradients, with FlashAttention (Dao 2023) where its kernel can form
         them: causal, one document a row, on a GPU. Its backward, like ours, takes the row sums of dO * O from an O rounded
         to bf16, which for weights near uniform is the larger part of the error of queries and keys
Exit code 4 when anything is outside. Attention is written out: a layer's logits, heads x T x T, must fit into memory.
"""
import argparse
import json
import math
import sys

import h5py
import numpy as np
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.checkpoint import checkpoint

from torch_llama import Llama, explicit_attention, resolved, shape_of

TYPES = {"fp32": torch.float32, "fp64": torch.float64, "bf16": torch.bfloat16}
TOLERANCES = {"fp32": 1e-4, "fp64": 1e-10}

# bf16 has two gates. The sharp one, whatever shape and state the model has, is PyTorch's own bf16 error, doubled (as FlashAttention-3
# tests its kernels). The budgets cap both: a gradient within 0.05 of the true one has a cosine above 0.998 with it. Values that are
# differences of larger ones (a softmax's gradient, a gain's sum over tokens of both signs) may lose twice as much. Nothing is asked
# to be closer than one rounding of all values to bf16: 2^-9, uniformly distributed, is 1.7e-3 in the Frobenius norm.
BF16_BUDGETS = {"loss": 2e-3, "embedding": 0.05, "head": 0.05, "value, out": 0.05, "ffn": 0.05,
                "query, key": 0.1, "gain": 0.1, "head gain": 0.1}
BF16_TIMES_TORCH, BF16_ROUNDING = 2.0, 1.7e-3


def kind_of(name):
    last = name.split(".")[-2]
    if name.endswith(".gain"):
        return "head gain" if last in ("q_norm", "k_norm") else "gain"
    return {"q": "query, key", "k": "query, key", "v": "value, out", "out": "value, out",
            "gate": "ffn", "up": "ffn", "down": "ffn"}.get(last, last)


def text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


def values_of(dataset):
    """As float64, whatever the type."""
    return torch.from_numpy(np.asarray(dataset[()], dtype=np.float64))


class Batch:
    """Labels, positions and mask of whole rows, from the tokens and where documents begin."""

    def __init__(self, file, deck, device):
        rows = torch.from_numpy(file["tokens"][()].astype(np.int64))
        begins = file["document_begins"][()]
        length = rows.shape[1] - 1
        starts = torch.zeros(rows.shape[0], length + 1, dtype=torch.bool)
        starts[begins[:, 0], begins[:, 1]] = True
        document = starts.long().cumsum(1)
        order = torch.arange(length + 1)
        first = torch.where(starts, order, 0).cummax(1).values  # where a token's document begins
        self.tokens = rows[:, :-1].to(device)
        self.labels = torch.where(document[:, 1:] == document[:, :-1], rows[:, 1:], -1).to(device)
        restart = deck["data"]["restart_positions"]
        self.positions = ((order - first) if restart else order.expand_as(rows))[:, :-1].to(device)

        i, j = order[:-1, None], order[None, :-1]
        visible = document[:, :-1, None] == document[:, None, :-1]
        if deck["attention"]["mask"] == "causal":
            visible = visible & (j <= i)
        if window := deck["attention"]["window"]:
            visible = visible & (j > i - window)
        self.visible = visible.to(device)
        self.valid = int((self.labels >= 0).sum())


def flash_attention(q, k, v):
    """Causal, by FlashAttention's own kernels.   q (B, T, Hq, d), k, v (B, T, Hkv, d) -> (B, T, Hq, d)"""
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True).transpose(1, 2)


def loss_and_gradients(model, batch, attention=None):
    """Mean nll, and a dict of gradients by our names in fp64. A layer's logits are formed again in backward."""
    again = lambda block, *arguments: checkpoint(block, *arguments, use_reentrant=False)
    attention = attention or explicit_attention(batch.visible)
    loss = model(batch.tokens, batch.labels, batch.positions, attention, again) / max(batch.valid, 1)
    model.zero_grad()
    loss.backward()
    return loss.item(), {name: part.grad[rows].double().cpu() for name, (part, rows) in model.named_parts().items()}


def model_of(checkpoint_file, deck, rounded, dtype, device):
    """Our parameters in `dtype`; rounded to bf16 first where the program computes on such a copy."""
    group = checkpoint_file["optim/master"] if "optim/master" in checkpoint_file else checkpoint_file["params"]
    model = Llama(shape_of(deck, group["embedding.weight"].shape[0])).to(torch.float64)
    parts = model.named_parts()
    if set(parts) != set(group):
        sys.exit(f"the checkpoint's tensors are not this model's: {sorted(set(parts) ^ set(group))}")
    with torch.no_grad():
        for name, (part, rows) in parts.items():
            value = values_of(group[name])
            part[rows] = value.to(torch.bfloat16).double() if rounded else value
    return model.to(device=device, dtype=dtype)


def relative(found, expected):
    difference = abs(found - expected) / max(abs(expected), 1e-300)
    return difference if difference == difference else math.inf


def errors(found, expected):
    """By name: ||a - b|| / max(||b||, 1e-3 ||all b||); infinite for NaN."""
    everything = math.sqrt(sum(float(b.square().sum()) for b in expected.values()))
    result = {}
    for name, b in expected.items():
        error = float((found[name] - b).norm()) / max(float(b.norm()), 1e-3 * everything, 1e-300)
        result[name] = error if error == error else math.inf
    return result


def compared(options):
    """Rows of the table: tensor, kind, error, budget, PyTorch's own error in bf16 (else None)."""
    with h5py.File(options.checkpoint, "r") as saved, h5py.File(options.gradients, "r") as file:
        if text(file.attrs.get("format", "")) != "annulus gradients" or file.attrs["format_version"] != 1:
            sys.exit(f"{options.gradients} holds no gradients of `annulus gradients`, version 1")
        if file.attrs.get("complete", 0) != 1:
            sys.exit(f"{options.gradients} is not complete")
        if file.attrs["step"] != saved["counters"].attrs["step"]:
            sys.exit(f"the gradients are of step {file.attrs['step']}, the checkpoint of {saved['counters'].attrs['step']}")
        deck = resolved(text(file.attrs["deck"]))
        precision = text(file.attrs["compute_type"])
        bf16 = precision == "bf16"
        batch = Batch(file, deck, options.device)
        if batch.valid != file.attrs["valid_tokens"]:
            sys.exit(f"{batch.valid} tokens have a label here, {file.attrs['valid_tokens']} in the program")
        build = lambda name: model_of(saved, deck, bf16, TYPES[name], options.device)
        expected_loss, expected = loss_and_gradients(build("fp64" if bf16 else precision), batch)
        own, peer = {}, "explicit"
        if bf16:
            flash = batch.visible.is_cuda and bool((batch.visible == torch.ones_like(batch.visible[0]).tril()).all())
            peer = "FlashAttention" if flash else "explicit"
            own_loss, gradients = loss_and_gradients(build("bf16"), batch, flash_attention if flash else None)
            own = errors(gradients, expected) | {"loss": relative(own_loss, expected_loss)}
        found = {name: values_of(file["gradients"][name]) for name in file["gradients"]}
        if set(found) != set(expected):
            sys.exit(f"gradients of other tensors: {sorted(set(found) ^ set(expected))}")

        def budget(name):
            if not bf16:
                return TOLERANCES[precision]
            kind = "loss" if name == "loss" else kind_of(name)
            return min(BF16_BUDGETS[kind], max(BF16_TIMES_TORCH * own[name], BF16_ROUNDING))

        loss = float(file.attrs["loss"])
        rows = [("loss", "loss", relative(loss, expected_loss), budget("loss"), own.get("loss"))]
        rows += [(name, kind_of(name), error, budget(name), own.get(name))
                 for name, error in errors(found, expected).items()]
        head = (f"{precision}, step {file.attrs['step']}, {batch.tokens.shape[0]} x {batch.tokens.shape[1]} tokens, attention "
                f"{text(file.attrs['attention'])}; PyTorch {torch.__version__} on {options.device}, {peer} attention: loss {loss:.9f} and {expected_loss:.9f}")
    return head, rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint")
    parser.add_argument("gradients")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    options = parser.parse_args()
    torch.set_float32_matmul_precision("highest")  # no TF32

    head, rows = compared(options)
    wrong = sum(not error <= budget for _, _, error, budget, _ in rows)
    if options.json:
        keys = ("tensor", "kind", "error", "budget", "torch_error")
        print(json.dumps({"what": head, "outside": wrong, "rows": [dict(zip(keys, row)) for row in rows]}, indent=2))
    else:
        print(head)
        own = rows[0][4] is not None
        print(f"{'tensor':34} {'kind':12} {'rel. error':>10} {'budget':>9}" + ("  PyTorch's" if own else ""))
        for name, kind, error, budget, torch_error in rows:
            print(f"{name:34} {kind:12} {error:10.1e} {budget:9.1e}" + (f" {torch_error:11.1e}" if own else "")
                  + ("  ok" if error <= budget else "  OUTSIDE"))
        print(f"{len(rows)} compared, {wrong} outside")
    return 4 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
