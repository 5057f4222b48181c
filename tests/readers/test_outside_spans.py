"""Spans of the type O, which tools write for tokens outside of all spans, are left out and counted in every format."""

from __future__ import annotations

import json

import pytest

import nereval_core as nereval
from nereval_core.readers import Source, read

TEXT = "Ann left Rome"
SPANS = [(0, 3, "PER"), (4, 8, "O"), (9, 13, "LOC")]

OBJECTS = [{"start": start, "end": end, "label": label} for start, end, label in SPANS]
ROWS = "".join(f"a,{start},{end},{label},{TEXT}\n" for start, end, label in SPANS)
LINES = "".join(f"1\t{start}\t{end}\t{TEXT[start:end]}\t{label}\n" for start, end, label in SPANS)
# Files by format.
FILES = {
    "jsonl": ("x.jsonl", json.dumps({"id": "1", "text": TEXT, "spans": OBJECTS})),
    "doccano": ("x.jsonl", json.dumps({"text": TEXT, "label": SPANS})),
    "spaCy tuples": ("x.json", json.dumps([[TEXT, {"entities": SPANS}]])),
    "prodigy": ("x.jsonl", json.dumps({"text": TEXT, "spans": OBJECTS, "answer": "accept"})),
    "csv": ("x.csv", f"doc,start,end,label,text\n{ROWS}"),
    "pipeline": ("x.jsonl", json.dumps({"text": TEXT, "ents": OBJECTS})),
    "pubtator": ("x.txt", f"1|t|{TEXT}\n1|a|\n{LINES}\n"),
}


@pytest.mark.parametrize("name", FILES)
def test_files(name: str) -> None:
    file, content = FILES[name]
    reading = read(Source.of_uploads([(file, content.encode())]))
    assert [reading.layer.label(span) for span in range(len(reading.layer))] == ["PER", "LOC"]
    assert reading.layer.types == ("LOC", "PER")
    assert any("left out: 1" in note for note in reading.notes)


def test_python_objects() -> None:
    scores = nereval.score([[(0, 3, "PER"), (4, 8, "O")]], [[(0, 3, "LOC"), (4, 8, "O")]])
    assert scores.counts("strict").gold[:2] == (0, 1)
    assert nereval.read_objects([SPANS]).notes == ("spans of the type O, which means outside, left out: 1",)
