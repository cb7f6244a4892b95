"""What the peers share: the rows that `annulus bench --json` prints, times as it takes them, and the check that comes first."""
import argparse
import json
import pathlib
import sys
import time

import torch

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tools"))

TYPES = {"fp32": torch.float32, "fp64": torch.float64, "bf16": torch.bfloat16}
# Of a compiled result beside its eager one, ||a - b|| / ||b||: they round at other places, a few times each, and some sums are in the type.
LIMITS = {"fp32": 1e-5, "fp64": 1e-13, "bf16": 2e-2}


def parser(description):
    p = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    p.add_argument("--threads", type=int, default=0, help="of the CPU (default: PyTorch's own choice)")
    p.add_argument("--like", help="a file of `annulus bench SUBJECT --json`: measure its rows' shapes")
    p.add_argument("--out", help="write the JSON to this file too")
    return p


def begin(options):
    """Threads, precision of products; the rows that --like asks for."""
    if options.threads:
        torch.set_num_threads(options.threads)
    torch.set_float32_matmul_precision("highest")  # fp32 is fp32, as it is with us
    torch.manual_seed(1)
    if not options.like:
        return []
    with open(options.like) as file:
        return json.load(file)["rows"]


def where(device):
    if device == "cpu":
        return f"PyTorch {torch.__version__}, CPU, {torch.get_num_threads()} threads"
    return f"PyTorch {torch.__version__}, {torch.cuda.get_device_name()}, cuDNN {torch.backends.cudnn.version()}"


class Timer:
    """Seconds of work on a device: by CUDA events, or the host's clock."""

    def __init__(self, device):
        self.cuda = device != "cpu"

    def __call__(self, work):
        if not self.cuda:
            begin = time.perf_counter()
            work()
            return time.perf_counter() - begin
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        begin.record()
        work()
        end.record()
        end.synchronize()
        return 1e-3 * begin.elapsed_time(end)


def median(samples):
    return sorted(samples)[len(samples) // 2]


def median_seconds(device, call, batches=21):
    """Of one call, over batches of 10 ms or more, after two that warm up."""
    timer = Timer(device)
    timer(call)
    calls = int(min(max(0.01 / timer(call), 1), 1000))
    return median([timer(lambda: [call() for _ in range(calls)]) / calls for _ in range(batches)])


def tensors(result):
    return [result] if isinstance(result, torch.Tensor) else list(result)


def checked(name, type_name, result, eager, limit=None):
    """The largest relative error of any of the results; printed, and fatal where it is outside the limit (of the type, unless given)."""
    error = 0.0
    for a, b in zip(tensors(result), tensors(eager), strict=True):
        a, b = a.detach().double(), b.detach().double()
        one = float((a - b).norm() / b.norm().clamp_min(1e-300))
        error = max(error, one if one == one else float("inf"))
    print(f"{name}, {type_name}: differs by {error:.1e} from eager", file=sys.stderr)
    if error > (limit or LIMITS[type_name]):
        sys.exit(f"{name}, {type_name}: the compiled result is not the eager one")
    return error


def row(name, type_name, shape, seconds, amount, unit, error, yardstick="", yardstick_rate=0.0):
    """`amount`: of the unit's numerator, in one call."""
    rate = amount / seconds
    return {"name": name, "type": type_name, "shape": shape, "seconds": seconds, "rate": rate, "unit": unit,
            "yardstick": yardstick, "yardstick_rate": yardstick_rate,
            "ratio": rate / yardstick_rate if yardstick_rate else 0.0, "error": error}


def finish(options, subject, rows):
    result = json.dumps({"subject": subject, "where": where(options.device), "rows": rows}, indent=2)
    print(result)
    if options.out:
        pathlib.Path(options.out).write_text(result + "\n")
