#!/usr/bin/env python3
"""Lists a checkpoint (docs/checkpoint-format.md), and checks it independently of the program that wrote it.

read_checkpoint.py FILE            what the file holds
read_checkpoint.py FILE --verify   forms every tensor's hash anew; exit 1 when one differs
"""
import argparse
import sys

import h5py
import numpy as np

KNOWN_VERSIONS = range(1, 2)
SLICE = 1 << 22  # elements whose hash is formed at once


def mix64(z):
    """The finaliser of SplitMix64 (Steele et al. 2014)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def bits_of(dataset):
    """The elements as unsigned integers, row-major: read in the file's own type, so that nothing is converted."""
    stored = dataset.id.get_type()
    bits = np.empty(dataset.shape, dtype=f"<u{stored.get_size()}")
    dataset.id.read(h5py.h5s.ALL, h5py.h5s.ALL, bits, mtype=stored)
    return bits.reshape(-1)


def hash_of(dataset):
    bits, total = bits_of(dataset), 0
    for first in range(0, bits.size, SLICE):
        part = bits[first : first + SLICE].astype(np.uint64)
        index = np.arange(first, first + part.size, dtype=np.uint64)
        total += int(mix64(mix64(index + np.uint64(0x9E3779B97F4A7C15)) + part).sum(dtype=np.uint64))
    return total % 2**64


def type_name(dataset):
    return {2: "bf16", 4: "fp32", 8: "fp64"}[dataset.id.get_type().get_size()]


def tensors(file):
    """(path, data set) of everything that holds values."""
    found = []
    file.visititems(lambda name, item: found.append((name, item)) if isinstance(item, h5py.Dataset) else None)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--verify", action="store_true", help="form every tensor's hash anew")
    options = parser.parse_args()

    with h5py.File(options.file, "r") as file:
        text = lambda value: value.decode() if isinstance(value, bytes) else str(value)
        if text(file.attrs.get("format", "")) != "annulus checkpoint":
            sys.exit(f"{options.file} is no checkpoint of Annulus")
        if file.attrs["format_version"] not in KNOWN_VERSIONS:
            sys.exit(f"{options.file} has format version {file.attrs['format_version']}, which this reader does not know")
        if file.attrs.get("complete", 0) != 1:
            sys.exit(f"{options.file} is not complete")
        for group in ("counters", "run"):
            for name, value in file[group].attrs.items():
                if name != "deck":
                    print(f"{name:20} {text(value)}")
        wrong = 0
        for path, dataset in tensors(file):
            verdict = ""
            if options.verify:
                matches = hash_of(dataset) == int(dataset.attrs["hash"])
                verdict = "  ok" if matches else "  HASH DIFFERS"
                wrong += not matches
            print(f"{path:48} {type_name(dataset)} {str(dataset.shape):16} {int(dataset.attrs['hash']):016x}{verdict}")
        if options.verify:
            print(f"{len(tensors(file))} tensors, {wrong} with another hash")
        return 1 if wrong else 0


if __name__ == "__main__":
    np.seterr(over="ignore")
    sys.exit(main())
