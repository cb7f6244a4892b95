#!/usr/bin/env python3
"""Test: tools/loss_overlay.py passes runs within the spread of seeds, fails those outside, and refuses what is not alike."""
import math
import pathlib
import subprocess
import sys
import tempfile

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "loss_overlay.py"
STEPS = 120


def curve(seed):
    """Falls from 6 to 3; seeds lie some hundredths apart and cross every now and then."""
    return [3 + 3 * math.exp(-step / 30) + 0.03 * math.sin(step / 17 + 2 * seed) for step in range(STEPS)]


def write(folder, name, losses, seed, compute="fp32", peak=0.003, ring=1, data="data"):
    run = folder / name
    run.mkdir()
    (run / "deck.toml").write_text(f'[run]\nname = "{name}"\nseed = {seed}\n[mesh]\nring = {ring}\n[data]\ntrain = "{data}"\n'
                                   f'[schedule]\npeak = {peak}\n[precision]\ncompute = "{compute}"\n')
    rows = [f"{step},{loss!r}" for step, loss in enumerate(losses, 1)]
    (run / "metrics.csv").write_text("\n".join(["step,loss", *rows]) + "\n")
    return run


def main():
    failures = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        seeds = [write(folder, f"seed{seed}", curve(seed), seed) for seed in (1, 2, 3)]
        near = [loss + 0.01 * math.cos(step) for step, loss in enumerate(curve(1))]
        late = {sign: [loss + (sign * 0.15 if 80 <= step < 100 else 0) for step, loss in enumerate(curve(1))]
                for sign in (1, -1)}
        other_seed = write(folder, "other-seed", near, 4, "bf16")

        def expect(code, what, run, seed_runs=tuple(seeds), says=""):
            nonlocal failures
            result = subprocess.run([TOOL, "--seeds", *seed_runs, "--runs", run], capture_output=True, text=True)
            if result.returncode != code or says not in result.stdout:
                failures += 1
                print(f"{what}: exit code {result.returncode}, expected {code}\n{result.stdout}{result.stderr}")

        expect(0, "within, on another mesh and copy of the data", write(folder, "near", near, 1, "bf16", ring=2, data="/copy"))
        expect(0, "beside its own seed", write(folder, "third", curve(3), 3, "bf16"), says=f"beside {seeds[2]}")
        expect(4, "above for twenty steps", write(folder, "above", late[1], 1, "bf16"))
        expect(4, "below for twenty steps", write(folder, "below", late[-1], 1, "bf16"))
        expect(4, "no number", write(folder, "nan", near[:-1] + [math.nan], 1, "bf16"))
        expect(2, "another learning rate", write(folder, "peak", near, 1, "bf16", peak=0.004))
        expect(2, "fewer steps", write(folder, "short", near[:-1], 1, "bf16"))
        expect(2, "a seed that fp32 has not", other_seed)
        expect(2, "two seeds only", folder / "near", seeds[:2])
        expect(2, "a seed twice", folder / "near", [*seeds, seeds[0]])
        expect(2, "a spread in bf16", folder / "near", [seeds[0], seeds[1], other_seed])
        expect(2, "no run", folder)
    return failures


sys.exit(main())
