#!/usr/bin/env python3
"""Whether runs in another precision, or on another machine, follow the loss curve of fp32 as closely as seeds do.

loss_overlay.py --seeds RUN RUN RUN... --runs RUN... [--window STEPS]

--seeds: run directories in fp32 whose decks differ in run.seed alone; --runs: what is compared, each with the seed run of its
run.seed. Decks may also differ in [run], [mesh], [precision] and where their data lie. Losses are smoothed by a mean over the
last --window steps. The spread at a step is the largest distance between two seeds' smoothed curves up to a window before or
after it: curves cross now and then, which says nothing of how far apart they run. Exit code: 0 when no run's smoothed loss is
further from its seed's than the spread, at any step; 4 when one is; 2 when the runs cannot be compared.
"""
import argparse
import csv
import math
import pathlib
import sys
import tomllib

MAY_DIFFER = {"run", "mesh", "precision"}


class Refused(Exception):
    pass


class Run:
    def __init__(self, directory):
        self.name = str(directory)
        try:
            deck = tomllib.loads((directory / "deck.toml").read_text())
            rows = list(csv.DictReader((directory / "metrics.csv").open()))
        except (OSError, tomllib.TOMLDecodeError) as error:
            raise Refused(f"{directory} is not the directory of a run: {error}")
        self.seed, self.compute = deck["run"]["seed"], deck["precision"]["compute"]
        self.settings = {f"{block}.{key}": value for block, keys in deck.items() for key, value in keys.items()
                         if block not in MAY_DIFFER and (block, key) not in {("data", "train"), ("data", "validation")}}
        self.losses = [float(row["loss"]) for row in rows]
        if [int(row["step"]) for row in rows] != list(range(1, len(rows) + 1)):
            raise Refused(f"the steps in {directory}/metrics.csv are not 1, 2, 3, ...")

    def smoothed(self, window):
        """Of each step from `window` on; NaN and infinity stay what they are."""
        return [sum(self.losses[end - window : end]) / window for end in range(window, len(self.losses) + 1)]


def refuse_unlike(runs, window):
    first = runs[0]
    for run in runs[1:]:
        for key in sorted(first.settings.keys() | run.settings.keys()):
            if first.settings.get(key) != run.settings.get(key):
                raise Refused(f"{run.name} has {key} = {run.settings.get(key)}, {first.name} {first.settings.get(key)}")
        if len(run.losses) != len(first.losses):
            raise Refused(f"{run.name} has {len(run.losses)} steps, {first.name} {len(first.losses)}")
    if len(first.losses) < 2 * window:
        raise Refused(f"{len(first.losses)} steps are too few for means over {window}")


def spread_of(curves, window):
    apart = [max(values) - min(values) for values in zip(*curves)]
    return [max(apart[max(0, n - window) : n + window + 1]) for n in range(len(apart))]


def compare(run, seed_run, spread, window):
    """Prints a line; whether the run stays within the spread."""
    pairs = zip(run.smoothed(window), seed_run.smoothed(window))
    differences = [abs(a - b) for a, b in pairs]
    if not all(map(math.isfinite, differences)):
        print(f"{run.name} ({run.compute}, seed {run.seed}): a loss is not a finite number  OUTSIDE")
        return False
    largest = max(range(len(differences)), key=differences.__getitem__)
    worst = max(range(len(differences)), key=lambda n: differences[n] / max(spread[n], 1e-300))
    within = differences[worst] <= spread[worst]
    print(f"{run.name} ({run.compute}, seed {run.seed}) beside {seed_run.name}:")
    for what, n in ("largest difference", largest), ("nearest to the spread", worst):
        print(f"  {what:<22} {differences[n]:.4f} at step {n + window}, where the spread is {spread[n]:.4f}"
              f" (ratio {differences[n] / max(spread[n], 1e-300):.2f})")
    print(f"  last steps             {run.smoothed(window)[-1]:.4f}, {seed_run.smoothed(window)[-1]:.4f} in fp32"
          f"  {'within' if within else 'OUTSIDE'}")
    return within


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seeds", nargs="+", type=pathlib.Path, required=True, metavar="RUN")
    options.add_argument("--runs", nargs="+", type=pathlib.Path, required=True, metavar="RUN")
    options.add_argument("--window", type=int, default=20, metavar="STEPS")
    given = options.parse_args()
    seeds, runs = [Run(path) for path in given.seeds], [Run(path) for path in given.runs]
    if given.window < 1:
        raise Refused("--window must be at least 1")
    refuse_unlike(seeds + runs, given.window)
    by_seed = {run.seed: run for run in seeds}
    if len(by_seed) < 3 or len(by_seed) < len(seeds):
        raise Refused("a spread takes at least three runs, each with a run.seed of its own")
    for run in seeds:
        if run.compute != "fp32":
            raise Refused(f"{run.name} computed in {run.compute}; the spread is that of fp32")
    for run in runs:
        if run.seed not in by_seed:
            raise Refused(f"{run.name} has run.seed = {run.seed}, which none of the seed runs has")

    spread = spread_of([run.smoothed(given.window) for run in seeds], given.window)
    print(f"{len(seeds)} seeds in fp32, {len(seeds[0].losses)} steps, means over {given.window}: spread"
          f" {min(spread):.4f} to {max(spread):.4f}, {spread[-1]:.4f} at the end")
    return 0 if all([compare(run, by_seed[run.seed], spread, given.window) for run in runs]) else 4


try:
    sys.exit(main())
except Refused as refusal:
    print(f"loss_overlay.py: {refusal}", file=sys.stderr)
    sys.exit(2)
