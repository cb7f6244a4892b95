#!/usr/bin/env python3
"""seeds.py FOLDER: small files that the readers of tokenizer_files.cpp accept."""
import base64
import json
import pathlib
import sys

QWEN2 = r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"""


def alphabet():
    kept = [b for b in range(256) if 33 <= b <= 126 or 161 <= b <= 172 or b >= 174]
    rest = [b for b in range(256) if b not in kept]
    return {**{chr(b): b for b in kept}, **{chr(256 + n): b for n, b in enumerate(rest)}}


def added(token_id, content, special):
    return dict(id=token_id, content=content, single_word=False, lstrip=False, rstrip=False, normalized=False, special=special)


def tokenizer_json(nfc, split):
    byte_level = dict(type="ByteLevel", add_prefix_space=False, trim_offsets=True, use_regex=not split)
    steps = [dict(type="Split", pattern=dict(Regex=QWEN2), behavior="Isolated", invert=False), byte_level]
    template = dict(type="TemplateProcessing", single=[dict(SpecialToken=dict(id="<s>", type_id=0)), dict(Sequence=dict(id="A", type_id=0))],
                    special_tokens={"<s>": dict(id="<s>", ids=[259], tokens=["<s>"])})
    return dict(version="1.0", truncation=None, padding=None,
                added_tokens=[added(258, "<|endoftext|>", True), added(259, "<s>", True), added(260, "<think>", False)],
                normalizer=dict(type="NFC") if nfc else None,
                pre_tokenizer=dict(type="Sequence", pretokenizers=steps) if split else byte_level,
                post_processor=dict(type="Sequence", processors=[byte_level, template]), decoder=byte_level,
                model=dict(type="BPE", dropout=None, unk_token=None, continuing_subword_prefix="", end_of_word_suffix="", fuse_unk=False,
                           byte_fallback=False, ignore_merges=split, vocab=alphabet() | {"ab": 256, "\u0120ab": 257},
                           merges=["a b", ["\u0120", "ab"]]))


def main():
    folder = pathlib.Path(sys.argv[1])
    for name, nfc, split in (("plain", False, False), ("split", False, True), ("nfc", True, True)):
        (folder / name).write_bytes(b"\x00" + json.dumps(tokenizer_json(nfc, split), ensure_ascii=False).encode())
    ranks = [bytes([b]) for b in range(256)] + [b"ab", b"abc", b" ab"]
    lines = (f"{base64.b64encode(token).decode()} {rank}\n" for rank, token in enumerate(ranks))
    (folder / "tiktoken").write_bytes(b"\x01" + "".join(lines).encode())
    (folder / "merges").write_bytes(b"\x02#version: 0.2\na b\n")


main()
