"""Small files that would become large are read, each in a fresh process: by none does memory or time run away.

A file is refused, or read within its share: no ratio of its size to what reading takes is without a bound.
"""

from __future__ import annotations

import gzip
import os
import random
import struct
import subprocess
import sys
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from pathlib import Path
from types import MappingProxyType

import msgspec
import pyarrow
from pyarrow import parquet

from tests.endurance.tries import FailedTryError, Try, make_tries
from tests.support import PYTHON_PATH, ROOT

MOST_BYTES = 1_500_000_000
"""Memory that reading any of these files may take."""
MOST_SECONDS = 20.0
"""Processor time likewise."""
GOLD = '{"id": "d", "text": "Ann took aspirin", "spans": [{"start": 0, "end": 3, "label": "P"}]}\n'
MILLION = 1_000_000


def run(folder: Path, wanted: Callable[[int], bool], *, processes: int = 1, first: int = 0) -> Counter[str]:
    """Read files as long as `wanted` says so of the number of tries; count them by kind, and failures."""
    # Each try reads up to five times, and what counts is processor time.
    return make_tries(prepare, folder, wanted, processes=processes, first=first, lost_seconds=30 * MOST_SECONDS)


def _zip(**entries: bytes) -> bytes:
    raw = BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name.replace("__", "."), content)
    return raw.getvalue()


def _docbin(n_tokens: int) -> bytes:
    """Return a DocBin of one document of one word, again and again: it expands just less than is refused."""
    # Not by scripts that read no such files: it takes long to import.
    import spacy
    from spacy.tokens import Doc, DocBin

    doc = Doc(spacy.blank("en").vocab, words=["a"])
    content = msgspec.msgpack.decode(zlib.decompress(DocBin(docs=[doc]).to_bytes()))
    content |= {key: content[key] * n_tokens for key in ("tokens", "spaces")}
    content["lengths"] = struct.pack("<i", n_tokens)
    content["strings"].append(random.Random(0).randbytes(n_tokens // 4).hex())
    return zlib.compress(msgspec.msgpack.encode(content), 9)


def _frames(content: bytes, number: int) -> bytes:
    """Return a content as a frame of Zstandard, again and again."""
    frame = pyarrow.BufferOutputStream()
    with pyarrow.CompressedOutputStream(frame, "zstd") as packing:
        packing.write(content)
    return bytes(frame.getvalue()) * number


def _tokens(groups: int) -> bytes:
    """Return a table of a long word and its tag, again and again, which each group of rows of Parquet keeps once."""
    raw = pyarrow.BufferOutputStream()
    group = pyarrow.table({"tokens": [["x" * 5_000]] * 1_000, "ner_tags": [["O"]] * 1_000})
    with parquet.ParquetWriter(raw, group.schema, compression="zstd") as writer:
        for _ in range(groups):
            writer.write_table(group)
    return bytes(raw.getvalue())


def _declaring(declarations: bytes, size: int) -> bytes:
    return b"<!DOCTYPE collection [%s]><collection><document>%s</document></collection>" % (
        declarations,
        b"<z/>" * size,
    )


BOMBS: Mapping[str, Callable[[int], bytes]] = MappingProxyType(
    {
        "blank.jsonl.gz": lambda size: gzip.compress(b"\n" * (300 * size)),
        "frames.jsonl.zst": lambda size: _frames(b"\n" * MILLION, 300 * size // MILLION),
        "tokens.parquet": lambda size: _tokens(size // 5_000),
        "text.jsonl.gz": lambda size: gzip.compress(b'{"id": "d", "text": "%s"}' % (b"a" * 300 * size)),
        "lines.conll": lambda size: b"x\n" * size,
        "tags.conll": lambda size: b"a O\n" + b"x\n" * size,
        "token.conll": lambda size: b"a" * (5 * size) + b" O\n",
        "zeros.json": lambda size: b"[" + b"0," * size + b"0]",
        "integers.jsonl": lambda size: GOLD.encode() + b"0\n" * size,
        "nested.json": lambda size: b"[" * size,
        "objects.json": lambda size: b'{"a":' * size + b"1" + b"}" * size,
        "digits.jsonl": lambda size: b'{"id": 1%s, "text": "a", "spans": []}' % (b"0" * size),
        "lines.pubtator": lambda size: b"1|t|a\n1|a|\n1\tx\ty\tz\n" * (size // 10),
        "nested.xml": lambda size: b"<collection><document>" + b"<z>" * size,
        "attributes.xml": lambda size: b"<collection %s/>" % b" ".join(b'a%d="1"' % at for at in range(size // 3)),
        "values.xml": lambda size: _declaring(
            b"".join(b'<!ATTLIST z a%d CDATA "x">' % at for at in range(size // 100)), size // 4
        ),
        "names.xml": lambda size: _declaring(
            b"".join(b"<!ATTLIST z a%d CDATA #IMPLIED>" % at for at in range(size // 30)), 1
        ),
        "entities.xml": lambda size: _declaring(b'<!ENTITY a "%s">' % (b"a" * size), 1),
        "tokens.spacy": _docbin,
        "entries.zip": lambda size: _zip(**{f"d{at}__ann": b"" for at in range(size // 50)}),
        "text.zip": lambda size: _zip(gold__jsonl=GOLD.encode(), a__jsonl=b" " * (300 * size)),
        "strings.xlsx": lambda size: _zip(
            **{"xl/sharedStrings__xml": b"<sst>%s</sst>" % (b"<si><t>a</t></si>" * size)}
        ),
    }
)
"""The bombs by the names of their files, each of a size, which is of the order of bytes or of items."""
FORMATS = MappingProxyType(
    {
        "conll": ("conll", "tagrows", "brat"),
        "json": ("labelstudio", "doccano", "bioc"),
        "jsonl": ("jsonl", "doccano", "prodigy"),
        "pubtator": ("pubtator",),
        "xml": ("bioc", "cas", "inline", "tei"),
    }
)
"""Formats that files are read in by force, by the ends of their names: what is not recognised is not read at all."""


def prepare(folder: Path) -> Try:
    gold = folder / "gold.jsonl"
    gold.write_text(GOLD)

    def make(number: int) -> Iterator[str]:
        drawn = random.Random(number)
        name = tuple(BOMBS)[number % len(BOMBS)]
        file = folder / name
        file.write_bytes(BOMBS[name](drawn.randrange(MILLION // 10, MILLION)))
        formats = FORMATS.get(file.suffix[1:], ())
        try:
            yield f"{name}: {read(gold, file)}"
            for reader in formats:
                yield f"{name} as {reader}: {read(gold, file, '--pred-format', reader)}"
        finally:
            file.unlink()

    return make


def read(gold: Path, file: Path, *options: str) -> str:
    """Read a file in a process of its own; return what became of it.

    Raises:
        FailedTryError: it took too much, or ended in anything but an answer or a refusal.
    """
    command = [sys.executable, "-m", "nereval_core", "score", str(gold), str(file), *options]
    environment = os.environ | {"PYTHONPATH": PYTHON_PATH, "NEREVAL_CACHE": ""}
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        assert process.stdout is not None
        said = process.stdout.read().decode(errors="replace")
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    size, seconds, n_bytes = file.stat().st_size, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024
    measured = f"{size:,} bytes: {seconds:.1f} s, {n_bytes:,} bytes of memory, status {process.returncode}"
    told = "\n".join((" ".join(options), measured, said[-1000:]))
    if process.returncode not in (0, 2) or "Traceback" in said:
        raise FailedTryError(f"{file.name} ends in a fault", told)
    if n_bytes > MOST_BYTES or seconds > MOST_SECONDS:
        raise FailedTryError(f"{file.name} takes too much", told)
    return "refused" if process.returncode else "read"
