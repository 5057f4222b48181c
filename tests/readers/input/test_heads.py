"""Heads: the first lines and keys of a file, which is opened once however many readers look at it."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nereval_core.readers import Source
from nereval_core.readers.input import file_text
from nereval_core.readers.input.file_text import HEAD_BYTES, OBJECT_MARKS, Head
from nereval_core.readers.input.source import HEADS_KEPT
from tests.support import ROOT
from tests.support.samples import SAMPLES, raw


def head(text: str) -> Head:
    return Source.of_uploads([("x.json", text.encode())]).head(".json")


KEYS = [
    ('{"a": {"b": 1}, "c": [{"d": 2}], "e": "f"}', {"a", "c", "e"}),
    ('\n[ {"a": "x\\": {"}, {"b": 1}]', {"a"}),
    ('{\n "a" : 1,\n "b": 2', {"a", "b"}),
    ('{"a": ["x", "}]', {"a"}),
    ('{"a": [["b", {"c": "]"}], 1], "d": "e\\', {"a", "d"}),
    ("{}", set()),
    ("[1]", set()),
    ("a", set()),
    ('\ufeff{"a": 1}', {"a"}),
    (json.dumps({"text": "x" * 2 * HEAD_BYTES, "label": []}), {"text", "label"}),
    ('{"a": [' + "[]," * OBJECT_MARKS + '1], "b": 2}', {"a", "b"}),
    ('{"a": [' + "[]," * OBJECT_MARKS + '1], "b": 2', {"a"}),
    ('[{"a": [' + "[]," * HEAD_BYTES + '1], "b": 2}]', {"a", "b"}),
]


@pytest.mark.parametrize(("text", "keys"), KEYS, ids=[text[:20] for text, _ in KEYS])
def test_the_keys_of_the_first_object(text: str, keys: set[str]) -> None:
    assert head(text).keys == keys


def test_a_large_file_that_is_one_object_is_not_followed_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    follow = file_text._keys
    monkeypatch.setattr(file_text, "_keys", lambda text: follow(text) if len(text) <= HEAD_BYTES else pytest.fail())
    documents = [{"id": "d", "passages": []}] * 10_000
    assert head(json.dumps({"documents": documents, "b\u00e9": "\ud83d\ude00"})).keys == {"documents", "bé"}


@settings(deadline=None)
@given(st.text(alphabet='{}[]",:\\1a \nu', max_size=30))
def test_keys_of_any_text(text: str) -> None:
    found = head(text + "{").keys
    try:
        value = json.loads(text)
    except ValueError:
        return
    if isinstance(value, dict):
        # The text of a key is not decoded: keys of formats have no escapes.
        assert len(found) == len(value) or "\\" in text or text.count('"') > 2 * len(value)


def test_lines_are_whole_and_the_first_may_be_blank() -> None:
    assert head("\ufeff \r\r\n\na\r\nb").lines == [" ", "", "a", "b"]
    assert (head(" \n\na b\n").first_line, head(" \n").first_line) == ("a b", "")
    assert head("ab\n" + "c" * HEAD_BYTES).lines == ["ab"]


def test_few_heads_are_kept() -> None:
    source = Source.of_uploads((f"{number}.txt", b"x") for number in range(3 * HEADS_KEPT))
    for file in source.files:
        assert source.head_of(file) is source.head_of(file)
    assert len(source.heads) <= HEADS_KEPT


# Opens of each file while it is recognised, in a process of its own: a hook cannot be taken away again.
OPENS = """
import sys
from pathlib import Path
from nereval_core.readers import Source, readers
from nereval_core.readers.recognition import likely_format

readers()
folder = Path(sys.argv[1])
opened = []
sys.addaudithook(lambda event, given: opened.append(str(given[0])) if event == "open" else None)
for path in sorted(folder.iterdir()):
    del opened[:]
    format = likely_format(Source.of_path(path))
    print(path.name, format, opened.count(str(path)), sep="\\t")
"""


def test_recognition_opens_a_file_once(tmp_path: Path) -> None:
    expected = {}
    for name, (format, files, _) in SAMPLES.items():
        if len(files) > 1:
            continue
        [(path, content)] = files.items()
        if path.endswith(".zip"):
            continue
        plain, packed = f"{len(expected)}.txt", f"{len(expected)}.txt.gz"
        tmp_path.joinpath(plain).write_bytes(raw(content))
        tmp_path.joinpath(packed).write_bytes(gzip.compress(raw(content)))
        expected |= {plain: (format, 1, name), packed: (format, 1, name)}
    done = subprocess.run(
        [sys.executable, "-c", OPENS, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    found = {path: (format, int(count), expected[path][2]) for path, format, count in rows}
    assert len(found) > 20
    assert found == expected
