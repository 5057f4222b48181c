"""Files that are not text, made of JSON: so that changes reach the values in them, and not only how they are packed."""

from __future__ import annotations

import json
import struct
import zlib
from io import BytesIO
from typing import Any
from zipfile import ZipFile, ZipInfo

import msgspec
import numpy as np
import pyarrow as pa
from pyarrow import parquet

from tests.support.workbooks import workbook

WRONG = (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError, struct.error)
"""What JSON of the wrong kind ends in: the bytes are given to the reader as they are."""
ARRAYS = {"tokens": "<u8", "lengths": "<i4", "spaces": "u1"}
"""Parts of a DocBin that are arrays."""


def parquet_of_rows(raw: bytes) -> bytes:
    """Return a JSON list of rows as Parquet."""
    try:
        table = pa.Table.from_pylist(json.loads(raw))
        with BytesIO() as file:
            parquet.write_table(table, file)
            return file.getvalue()
    except (*WRONG, pa.ArrowException):
        return raw


def book_of_sheet(raw: bytes) -> bytes:
    """Return the XML of a sheet as a workbook."""
    return workbook({"s": raw})


def project_of_cas(raw: bytes) -> bytes:
    """Return XMI as the work of one annotator in the export of a project: a zip within a zip."""
    held = raw
    for name in ("ann.xmi", "annotation/d.txt/ann.zip"):
        with BytesIO() as file:
            with ZipFile(file, "w") as archive:
                archive.writestr(ZipInfo(name), held)
            held = file.getvalue()
    return held


def docbin_of_parts(raw: bytes) -> bytes:
    """Return what `parts_of_docbin` made as a DocBin."""
    try:
        return zlib.compress(msgspec.msgpack.encode(_bytes(json.loads(raw))))
    except WRONG:
        return raw


def parts_of_docbin(raw: bytes) -> bytes:
    """Return a DocBin as JSON: arrays as {type: values}, MessagePack in it as {"packed": value}, maps as pairs."""
    parts = msgspec.msgpack.decode(zlib.decompress(raw))
    plain = {
        key: {ARRAYS[key]: np.frombuffer(value, ARRAYS[key]).tolist()} if key in ARRAYS else _plain(value)
        for key, value in parts.items()
    }
    return json.dumps(plain).encode()


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {"map": [[_plain(key), _plain(one)] for key, one in value.items()]}
    if isinstance(value, bytes):
        try:
            found = msgspec.msgpack.decode(value)
        except msgspec.DecodeError:
            found = None
        return {"packed": _plain(found)} if isinstance(found, list | dict) else {"bytes": value.decode("latin-1")}
    return value


def _bytes(value: Any) -> Any:
    if isinstance(value, list):
        return [_bytes(one) for one in value]
    if not isinstance(value, dict):
        return value
    if len(value) != 1:
        return {key: _bytes(one) for key, one in value.items()}
    [(kind, given)] = value.items()
    if kind == "map":
        return {_bytes(key): _bytes(one) for key, one in given}
    if kind == "packed":
        return msgspec.msgpack.encode(_bytes(given))
    if kind == "bytes":
        return given.encode("latin-1")
    if kind not in ARRAYS.values():
        raise ValueError(kind)
    return np.array(given, kind).tobytes()
