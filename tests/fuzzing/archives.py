"""Archives and packed files of every kind, as tools write them and as nobody should: made of files, by chance."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import stat
import struct
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from functools import cache

import pyarrow

from tests.fuzzing.mutation import damaged

NAMES = (
    *("../up.jsonl", "/tmp/absolute.jsonl", "C:\\x\\d.jsonl", "..\\up.ann", "a/../../b.txt", "a//b.ann", "./d.jsonl"),
    *("", ".", "/", ".hidden.jsonl", "__MACOSX/._d.jsonl", "n\0l.jsonl", "ü/é.jsonl", "x" * 300 + ".txt", "d.jsonl/"),
    *("in.zip", "in.tar", "d.jsonl.gz", "d.xlsx", "CON.json", "d.jsonl\n", "~/d.jsonl", "-"),
)
"""Names that entries should not have, or seldom have."""
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
MODES = (0, 0, 0, stat.S_IFREG | 0o644, stat.S_IFLNK | 0o777, stat.S_IFDIR | 0o755, stat.S_IFIFO | 0o600)
FIELDS = ((8, "<H"), (10, "<H"), (16, "<I"), (20, "<I"), (24, "<I"), (28, "<H"), (30, "<H"), (32, "<H"), (42, "<I"))
"""Where the numbers of an entry of a zip's directory stand, and how: flags, method, CRC, sizes, lengths, offset."""
FIELD_VALUES = (0, 1, 2, 8, 99, 255, 65_535, 1 << 20, (1 << 31) - 1, (1 << 32) - 1)
EXPANDED_BYTES = 4 << 20
"""What a file of a few kilobytes expands to, of those that expand much."""
TAR_FORMATS = (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)


def zip_of(files: Mapping[str, bytes], drawn: random.Random) -> bytes:
    """Return a zip of files, sound or with odd names, methods, modes and numbers, or with one entry twice."""
    odd = drawn.random() < 0.4
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, raw in files.items():
            strange = odd and drawn.random() < 0.3
            info = zipfile.ZipInfo(drawn.choice(NAMES) if strange and drawn.random() < 0.5 else name)
            info.compress_type = drawn.choice(METHODS if strange else METHODS[:2])
            info.external_attr = drawn.choice(MODES) << 16 if strange else 0
            for _ in range(2 if strange and drawn.random() < 0.1 else 1):
                _written(archive, info, raw)
        if odd and drawn.random() < 0.1:
            archive.comment = drawn.randbytes(drawn.choice((1, 100, 60_000)))
    raw = buffer.getvalue()
    if odd and drawn.random() < 0.5 and (at := raw.find(b"PK\1\2")) >= 0:
        field, size = drawn.choice(FIELDS)
        made = bytearray(raw)
        struct.pack_into(size, made, at + field, drawn.choice(FIELD_VALUES) & (1 << 8 * struct.calcsize(size)) - 1)
        raw = bytes(made)
    return raw


def _written(archive: zipfile.ZipFile, info: zipfile.ZipInfo, raw: bytes) -> None:
    # A name given twice is only warned of.
    if info.filename in archive.namelist():
        archive.NameToInfo.pop(info.filename)
    archive.writestr(info, raw)


def tar_of(files: Mapping[str, bytes], drawn: random.Random) -> bytes:
    """Return a tar archive of files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=drawn.choice(TAR_FORMATS)) as archive:
        for name, raw in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(raw)
            info.type = drawn.choice((tarfile.REGTYPE, tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.DIRTYPE))
            archive.addfile(info, io.BytesIO(raw) if info.isreg() else None)
    return buffer.getvalue()


def zstd(raw: bytes) -> bytes:
    packed: bytes = pyarrow.compress(raw, "zstd", asbytes=True)
    return packed


def _gzip(raw: bytes) -> bytes:
    return gzip.compress(raw, 1, mtime=0)


PACKINGS: Mapping[str, Callable[[bytes], bytes]] = {
    ".gz": _gzip, ".zst": zstd, ".zstd": zstd, ".bz2": bz2.compress, ".xz": lambda raw: lzma.compress(raw, preset=0)
}  # fmt: skip


def packed(files: Mapping[str, bytes], drawn: random.Random) -> dict[str, bytes]:
    """Return files as an archive or each packed, or archives within archives, most of them whole."""
    made = dict(files)
    for _ in range(drawn.choice((1, 1, 1, 1, 2, 3))):
        kind = drawn.randrange(6)
        if kind < 3:
            made = {drawn.choice(("a.zip", "a.zip", "b.ZIP", "a.jsonl")): zip_of(made, drawn)}
        elif kind == 3:
            made = {drawn.choice(("a.tar", "a.tgz", "a")): tar_of(made, drawn)}
        else:
            suffix, pack = drawn.choice(tuple(PACKINGS.items()))
            twice = drawn.random() < 0.1
            # A second member of a gzip is read on, as gzip does.
            made = {f"{name}{suffix}": pack(raw) * (1 + twice) for name, raw in made.items()}
    if drawn.random() < 0.3:
        name = drawn.choice(tuple(made))
        made[name] = damaged(made[name], drawn, [*files.values()])
    return made


@cache
def expanding(name: str, raw: bytes) -> tuple[dict[str, bytes], ...]:
    """Return packed files of a few kilobytes that expand to EXPANDED_BYTES of a file's content, over and over."""
    much = raw * (EXPANDED_BYTES // max(1, len(raw)))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo(name), much, zipfile.ZIP_DEFLATED)
    return {f"{name}.gz": _gzip(much)}, {f"{name}.zst": zstd(much)}, {"a.zip": buffer.getvalue()}
