#!/usr/bin/env python3
"""`annulus bench tokenize` with the packages `tokenizers` and `tiktoken`: the rows have the faster of the two, whose name stands in
brackets; both rates go to stderr. Texts are given as documents of 64 KiB, which serves both better than whole files do.

  bench/peers/tokenize.py --tokenizer gpt2:DIR --text book.txt       (or hf:FILE, without tiktoken)
"""
import sys

sys.path.pop(0)  # this folder, in which we would hide Python's own module `tokenize`

import argparse
import json
import os
import pathlib
import subprocess
import time

DOCUMENT = 65536


def documents(path):
    text = path.read_bytes().decode("utf-8")
    parts, at = [], 0
    while at < len(text):
        end = text.find("\n", at + DOCUMENT) + 1 or len(text)
        parts.append(text[at:end])
        at = end
    return parts


def gpt2_files(folder):
    for merges, vocabulary in (("vocab.bpe", "encoder.json"), ("merges.txt", "vocab.json"), ("gpt2-vocab.bpe", "gpt2-encoder.json")):
        if (folder / merges).exists():
            return str(folder / vocabulary), str(folder / merges)
    sys.exit(f"{folder} holds no GPT-2 vocabulary")


def encoders(spec, threads):
    """name -> documents to lists of ids"""
    import tiktoken
    from tiktoken.load import data_gym_to_mergeable_bpe_ranks
    from tiktoken_ext.openai_public import r50k_pat_str
    from tokenizers import Tokenizer, models, pre_tokenizers

    kind, _, path = spec.partition(":")
    if kind == "hf":
        tokenizer = Tokenizer.from_file(path)
    else:
        vocabulary, merges = gpt2_files(pathlib.Path(path))
        tokenizer = Tokenizer(models.BPE.from_file(vocabulary, merges))
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.encode_special_tokens = True
    found = {"tokenizers": lambda texts: [e.ids for e in tokenizer.encode_batch_fast(texts, add_special_tokens=False)]}
    if kind == "gpt2":
        ranks = data_gym_to_mergeable_bpe_ranks(merges, vocabulary)
        encoding = tiktoken.Encoding("gpt2", pat_str=r50k_pat_str, mergeable_ranks=ranks, special_tokens={})
        found["tiktoken"] = ((lambda texts: [encoding.encode_ordinary(text) for text in texts]) if threads == 1 else
                             (lambda texts: encoding.encode_ordinary_batch(texts, num_threads=threads)))
    return found


def seconds(call, passes=5):
    call()
    samples = []
    for _ in range(passes):
        begin = time.perf_counter()
        call()
        samples.append(time.perf_counter() - begin)
    return sorted(samples)[passes // 2]


def measure(options):
    """In a process of its own, whose environment says how many threads `tokenizers` has."""
    rows, found = [], encoders(options.tokenizer, options.threads)
    for path in options.text:
        texts = documents(path)
        ids = {name: encode(texts) for name, encode in found.items()}
        if any(each != ids["tokenizers"] for each in ids.values()):
            sys.exit(f"{path}: the peers' ids differ")
        size = path.stat().st_size
        taken = {name: seconds(lambda: encode(texts)) for name, encode in found.items()}
        shape = f"{options.threads} thread{'s' * (options.threads > 1)}"
        for name, each in taken.items():
            print(f"{path.name}, {shape}: {name} {1e-6 * size / each:.1f} MB/s", file=sys.stderr)
        best = min(taken, key=taken.get)
        rows.append({"name": f"{path.name}[{best}]", "type": options.tokenizer.partition(":")[0], "shape": shape,
                     "seconds": taken[best], "rate": 1e-6 * size / taken[best], "unit": "MB/s"})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--text", type=pathlib.Path, action="append", required=True)
    parser.add_argument("--threads", type=int, help="measure this many in this process, and print rows only")
    options = parser.parse_args()
    if options.threads:
        return print(json.dumps(measure(options)))
    import tiktoken
    import tokenizers
    rows = []
    for threads in (1, 2):
        done = subprocess.run([sys.executable, *sys.argv, "--threads", str(threads)], stdout=subprocess.PIPE, text=True,
                              env=os.environ | {"RAYON_NUM_THREADS": str(threads), "TOKENIZERS_PARALLELISM": "true"})
        if done.returncode:
            sys.exit(done.returncode)
        rows += json.loads(done.stdout)
    print(json.dumps({"subject": "tokenize", "where": f"tokenizers {tokenizers.__version__}, tiktoken {tiktoken.__version__}",
                      "rows": rows}, indent=2))


main()
