#!/usr/bin/env python3
"""Compares our tokenizers' ids with those of the packages `tokenizers` and `tiktoken`, on random strings and whole files.

  tokenizer_reference.py build/cpu/bin/token_ids [--shared ../shared/data] [--strings 10000]

  tokenizer_reference.py --hashes ../shared/data      the expectations of gpt2_reference.cpp (needs the package xxhash)

Exit code 4: skipped, because a package is missing. Vocabularies are GPT-2's where --shared has it, and small ones trained here.
"""
import argparse
import base64
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

try:
    import tiktoken
    import tokenizers
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
except ImportError as error:
    print(f"skipped: {error}; pip install tokenizers tiktoken")
    sys.exit(4)

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATTERNS = dict(
    gpt2=r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s""",
    cl100k=r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s""",
    llama3=r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+""",
    qwen2=r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+""",
    o200k="|".join([
        r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?""",
        r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?""",
        r"""\p{N}{1,3}""", r""" ?[^\s\p{L}\p{N}]+[\r\n/]*""", r"""\s*[\r\n]+""", r"""\s+(?!\S)""", r"""\s+"""]))
END, START, CONTROL = "<|endoftext|>", "<|begin_of_text|>", "<|im_start|>"
WORDS = ["<tool_call>", "</think>"]  # added tokens that text does spell
SNIPPETS = [" ", "  ", "\n", "\r\n", "\t", "\u0085", "\u00a0", "\u2028", "\u3000", "\ufeff", "\u180e", "\x1c", "\x00", "'s", "'S", "'LL",
            "'ve", "'\u017f", "\u017f", "don't", "I'D", "1", "23", "4567", "\u00bd", "\u0663", "a", "B", "Hello", "WORLD", "camelCase", "\u01c5",
            "\u02b0", "\u00e9", "e\u0301", "\u0301", "a\u0323\u0301", "\u1100\u1161\u11a8", "\uac01", "\u0958", "\u212b", "\u2126", "\uf900",
            "\u6771\u4eac", "\u3042\u30a2", "\U0001F642", "\U0001F468\u200d\U0001F469", "\u0e01\u0e33", "\u05d0\u05b8", "\u0627\u064b",
            "...", "//", "/\n", "!?", "<", ">", "|", END, CONTROL, *WORDS, "<|im_", "=", "\"", "\u2019s", "_x", "\u20dd"]


def random_string(draw):
    parts = []
    for _ in range(draw.randrange(1, 24)):
        kind = draw.random()
        if kind < 0.7:
            parts.append(draw.choice(SNIPPETS))
        elif kind < 0.85:
            parts.append("".join(chr(draw.randrange(32, 127)) for _ in range(draw.randrange(1, 9))))
        elif kind < 0.95:
            parts.append(chr(draw.choice([draw.randrange(0x80, 0x3000), draw.randrange(0xA000, 0xD800), draw.randrange(0x10000, 0x1F000)])))
        else:
            parts.append(draw.choice("ab \nA1'") * draw.randrange(1, 200))
    return "".join(parts)


def texts(options):
    draw = random.Random(options.seed)
    found = ["", *SNIPPETS, *(random_string(draw) for _ in range(options.strings))]
    sources = [p for f in ("src", "docs", "tests/io") for p in sorted((ROOT / f).rglob("*")) if p.suffix in (".cpp", ".hpp", ".py", ".md")]
    for file in [*sources, *(sorted(options.shared.glob("*.*")) if options.shared else [])]:
        found.append(file.read_bytes().decode("utf-8"))
    return found


def ours(options, spec, given):
    frames = b"".join(struct.pack("<I", len(b)) + b for b in (text.encode() for text in given))
    done = subprocess.run([options.token_ids, spec], input=frames, stdout=subprocess.PIPE)
    if done.returncode:
        sys.exit(f"token_ids {spec} ended with {done.returncode}")
    at, out = 0, []
    while at < len(done.stdout):
        count, = struct.unpack_from("<I", done.stdout, at)
        out.append(list(struct.unpack_from(f"<{count}i", done.stdout, at + 4)))
        at += 4 + 4 * count
    return out


def compared(options, label, spec, given, reference):
    """Prints the first difference; returns how many texts differ."""
    wrong = [(text, a, b) for text, a, b in zip(given, ours(options, spec, given), map(reference, given)) if a != b]
    print(f"{label:44} {len(given)} texts, {len(wrong)} differ", flush=True)
    for text, a, b in wrong[:3]:
        n = next((n for n, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
        print(f"    {text[:80]!r}: from id {n} on ours {a[n:n + 6]}, reference {b[n:n + 6]}")
    return len(wrong)


def hugging_face(pattern, nfc=False, start=False, words=(), whole=False, bpe=None):
    """As published files are built: trained on this repository's text, or around a given BPE."""
    tokenizer = Tokenizer(bpe or models.BPE())
    split = pre_tokenizers.Split(Regex(PATTERNS[pattern]), "isolated")
    level = lambda regex: pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=regex)
    tokenizer.pre_tokenizer = level(True) if pattern == "gpt2" else pre_tokenizers.Sequence([split, level(False)])
    tokenizer.decoder = decoders.ByteLevel()
    if nfc:
        tokenizer.normalizer = normalizers.NFC()
    if not bpe:
        trainer = trainers.BpeTrainer(vocab_size=3000, initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()), show_progress=False)
        tokenizer.train_from_iterator([p.read_text() for p in sorted((ROOT / "docs").glob("*.md"))], trainer)
    if whole:
        state = json.loads(tokenizer.to_str())
        state["model"]["ignore_merges"] = True
        tokenizer = Tokenizer.from_str(json.dumps(state))
    tokenizer.add_special_tokens([END, CONTROL] + [START] * start)
    tokenizer.add_tokens([AddedToken(word, normalized=n == 1, special=False) for n, word in enumerate(words)])
    level_after = processors.ByteLevel(trim_offsets=False)
    template = processors.TemplateProcessing(single=f"{START} $A", pair=f"{START} $A {START} $B:1",
                                             special_tokens=[(START, tokenizer.token_to_id(START) or 0)]) if start else None
    tokenizer.post_processor = processors.Sequence([level_after, template]) if start else level_after
    tokenizer.encode_special_tokens = True
    return tokenizer


def byte_of_level():
    kept = [b for b in range(256) if 33 <= b <= 126 or 161 <= b <= 172 or b >= 174]
    return {chr(b): b for b in kept} | {chr(256 + n): b for n, b in enumerate(b for b in range(256) if b not in kept)}


def ranks_of(vocabulary):
    """tiktoken's ranks from byte-level tokens in order of their ids."""
    level = byte_of_level()
    tokens = [t for t, _ in sorted(vocabulary.items(), key=lambda pair: pair[1]) if t not in (END, START, CONTROL, *WORDS)]
    return {bytes(level[c] for c in token): n for n, token in enumerate(tokens)}


def print_hashes(shared):
    import xxhash
    bpe = models.BPE.from_file(*(str(shared / name) for name in ("gpt2-encoder.json", "gpt2-vocab.bpe")))
    tokenizer = hugging_face("gpt2", bpe=bpe)
    for file in sorted(shared.glob("*.*")):
        ids = tokenizer.encode(file.read_bytes().decode()).ids
        print(f'      {{"{file.name}", {len(ids)}, "{xxhash.xxh64(struct.pack(f"<{len(ids)}i", *ids)).hexdigest()}"}},')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("token_ids", nargs="?")
    parser.add_argument("--hashes", type=pathlib.Path, metavar="SHARED")
    parser.add_argument("--shared", type=pathlib.Path, help="the folder with GPT-2's vocabulary and long texts")
    parser.add_argument("--strings", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.hashes:
        return print_hashes(options.hashes)
    if options.shared and not options.shared.exists():
        print(f"there is no {options.shared}: without GPT-2's vocabulary and the long texts")
        options.shared = None
    given, wrong = texts(options), 0
    print(f"tokenizers {tokenizers.__version__}, tiktoken {tiktoken.__version__}")
    with tempfile.TemporaryDirectory() as scratch:
        families = {"GPT-2": dict(pattern="gpt2"), "Llama 3": dict(pattern="llama3", start=True, whole=True),
                    "Qwen 2 and 3": dict(pattern="qwen2", nfc=True, words=WORDS), "GPT-4": dict(pattern="llama3"),
                    "GPT-4o": dict(pattern="o200k", words=WORDS[:1])}
        if options.shared:
            files = [str(options.shared / name) for name in ("gpt2-encoder.json", "gpt2-vocab.bpe")]
            whole = hugging_face("gpt2", bpe=models.BPE.from_file(*files))
            wrong += compared(options, "gpt2: and tokenizers", f"gpt2:{options.shared}", given, lambda text: whole.encode(text).ids)
            families |= {f"{name}, GPT-2's merges": how | dict(bpe=models.BPE.from_file(*files)) for name, how in families.items()}
        for number, (name, how) in enumerate(families.items()):
            tokenizer = hugging_face(**how)
            file = f"{scratch}/{number}.json"
            tokenizer.save(file)
            wrong += compared(options, f"hf: {name}", f"hf:{file}", given, lambda text: tokenizer.encode(text).ids)

        vocabularies = {"small": ranks_of(hugging_face("llama3").get_vocab())}
        if options.shared:
            vocabularies["GPT-2's"] = ranks_of(json.loads((options.shared / "gpt2-encoder.json").read_text()))
        for size, ranks in vocabularies.items():
            file = pathlib.Path(f"{scratch}/{len(ranks)}.tiktoken")
            file.write_text("".join(f"{base64.b64encode(token).decode()} {rank}\n" for token, rank in ranks.items()))
            for pattern in ("gpt2", "cl100k", "llama3", "o200k"):
                encoding = tiktoken.Encoding("test", pat_str=PATTERNS[pattern], mergeable_ranks=ranks, special_tokens={})
                before = [len(ranks)] if pattern == "llama3" else []
                wrong += compared(options, f"tiktoken: {size} ranks, {pattern}", f"tiktoken:{file}:{pattern}", given,
                                  lambda text: before + encoding.encode_ordinary(text))
    sys.exit(1 if wrong else 0)


main()
