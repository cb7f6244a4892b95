"""Which of PyTorch's attention kernels serves a shape: cuDNN's where it does."""
import contextlib
import warnings

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

ORDER = {"cudnn": SDPBackend.CUDNN_ATTENTION, "flash": SDPBackend.FLASH_ATTENTION,
         "efficient": SDPBackend.EFFICIENT_ATTENTION, "math": SDPBackend.MATH}


def causal(q, k, v):
    """q (B, T, Hq, d), k, v (B, T, Hkv, d) -> (B, T, Hq, d)"""
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=q.shape[1] != k.shape[1]).transpose(1, 2)


def causal_repeated(q, k, v):
    """The same for kernels that want as many heads of keys as of queries."""
    group = q.shape[2] // k.shape[2]
    return causal(q, k.repeat_interleave(group, 2), v.repeat_interleave(group, 2))


def chosen(device, dtype, heads, kv_heads, head_dim):
    """(name, context that makes PyTorch use it, function), found by trying it forward and backward."""
    if device == "cpu":
        return "cpu", contextlib.nullcontext, causal
    draw = lambda count: torch.randn(1, 256, count, head_dim, device=device).to(dtype).requires_grad_()
    q, k, v = draw(heads), draw(kv_heads), draw(kv_heads)
    for name, backend in ORDER.items():
        for function in (causal, causal_repeated):
            try:
                with warnings.catch_warnings(), sdpa_kernel(backend):
                    warnings.simplefilter("ignore")
                    function(q, k, v).sum().backward()
                return name, lambda backend=backend: sdpa_kernel(backend), function
            except RuntimeError:
                continue
    raise SystemExit("PyTorch has no attention for this shape")
