"""Files of Python's literals are read as the JSON that they mean, one alone and not beside others."""

from __future__ import annotations

import json

import pytest

from nereval_core.corpus import Documents
from nereval_core.problems import FormatError
from nereval_core.readers import Reading, ReadOptions, Source, read

TEXT = "Ann left Rome"
GOLD = ReadOptions(texts=Documents(("d1",), (TEXT,)))


def of_file(content: str, options: ReadOptions | None = None, name: str = "x.txt") -> Reading:
    return read(Source.of_uploads([(name, content.encode())]), options=options or ReadOptions())


def bounds(reading: Reading) -> list[tuple[int, int]]:
    return list(zip(reading.layer.start.tolist(), reading.layer.end.tolist(), strict=True))


FILES = {
    "printed output of a pipeline": (
        "[{'entity_group': 'PER', 'score': np.float32(0.9), 'word': 'Ann', 'start': 0, 'end': 3}, "
        "{'entity_group': 'LOC', 'score': 0.8, 'word': 'Rome', 'start': 9, 'end': 13}]\n"
    ),
    "printed records": "{'text': 'Ann left Rome', 'entities': [(0, 3, 'PER'), (9, 13, 'LOC')]}\n",
    "training data of spaCy": (
        'TRAIN_DATA = [\n    ("Ann left Rome", {"entities": [(0, 3, "PER"),\n     (9, 13, "LOC")]}),\n]\n'
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_literals_are_read_as_json(name: str) -> None:
    for content in (FILES[name], "\ufeff" + FILES[name], FILES[name].replace("\n", "\r\n")):
        assert bounds(of_file(content, GOLD)) == [(0, 3), (9, 13)]
        assert bounds(of_file(content, GOLD, "x.jsonl")) == [(0, 3), (9, 13)]


def test_a_problem_names_the_line_of_the_file() -> None:
    content = FILES["printed records"] + "{'text': 'Ann', 'entities': [(0, 9, 'PER')]}\n"
    with pytest.raises(FormatError) as caught:
        of_file(content)
    assert (caught.value.problems[0].source, caught.value.problems[0].line) == ("x.txt", 2)


def test_other_files_are_not_changed() -> None:
    for content in ("('a', 'b') and more\n", "{'a': open('x')}\n", "{'a'\n"):
        with pytest.raises(FormatError, match=r"cannot be recognised|not JSON"):
            of_file(content)
    # Beside annotations a file is a text.
    text = "{'a': 1}"
    native = json.dumps({"documents": 1})
    uploads = [("d.txt", text.encode()), ("d.ann", b"T1\tX 2 3\ta\n"), ("note.json", native.encode())]
    assert read(Source.of_uploads(uploads[:2])).documents.texts == (text,)
