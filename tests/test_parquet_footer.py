"""The footer of Parquet says what pyarrow says of it; damage in it ends in problems, not in the end of the process."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from nereval_core.readers.parquet_footer import Chunk, chunks

ROOT = Path(__file__).parents[1]
ROWS = {
    "document": ["d1", "d1", "d2"],
    "start": [0, 4, 0],
    "type": ["A", "A", "B"],
    "links": [["Q1"], [], ["Q2", "Q3"]],
    "core": [{"start": 0, "end": 1}, None, None],
    "score": [0.5, None, 1.0],
}


def written(**options: object) -> bytes:
    buffer = io.BytesIO()
    parquet.write_table(pa.table(ROWS), buffer, **options)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"row_group_size": 1},
        {"use_dictionary": False, "compression": "zstd"},
        {"write_page_index": True, "version": "1.0"},
        {"write_statistics": False, "compression": "none", "data_page_version": "2.0"},
    ],
)
def test_the_footer_is_read_as_by_pyarrow(options: dict[str, object]) -> None:
    raw = written(**options)
    metadata = parquet.ParquetFile(io.BytesIO(raw)).metadata
    expected = []
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for column in map(group.column, range(group.num_columns)):
            name = column.path_in_schema.partition(".")[0]
            unpacked, coded = column.total_uncompressed_size, column.has_dictionary_page
            expected.append(Chunk(name, column.num_values, unpacked, coded))
    assert list(chunks(pa.BufferReader(raw))) == expected


DAMAGE = """
import sys
from nereval_core.errors import FormatError
from nereval_core.readers import Source, read
from tests.test_parquet_footer import written

raw = written()
texts = ("x.texts.parquet", raw)
length = int.from_bytes(raw[-8:-4], "little")
ends = 0
for at in range(len(raw) - 8 - length, len(raw)):
    for change in (0, 255, raw[at] ^ 1):
        damaged = raw[:at] + bytes([change]) + raw[at + 1 :]
        try:
            read(Source.of_uploads([("x.spans.parquet", damaged), texts]), format="parquet")
        except FormatError:
            ends += 1
print(ends)
"""


def test_a_damaged_footer_ends_in_problems() -> None:
    """In a process of its own, which pyarrow may end."""
    run = subprocess.run([sys.executable, "-c", DAMAGE], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) > 1000


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "damaged"),
        (b"PAR1" + bytes(8), "damaged"),
        (b"\x1c" * 5000 + (5000).to_bytes(4, "little") + b"PAR1", "nested too deeply"),
        (b"\x19" * 5000 + (5000).to_bytes(4, "little") + b"PAR1", "damaged"),
        (b"\x15" + b"\xff" * 5000 + (5001).to_bytes(4, "little") + b"PAR1", "more than 64 bits"),
        (b"\x1d\x00" + (2).to_bytes(4, "little") + b"PAR1", "of the kind 13"),
    ],
)
def test_what_is_no_footer_is_refused(raw: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        list(chunks(pa.BufferReader(raw)))
