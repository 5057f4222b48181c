"""What is wrong with a file is said with its line, in every format alike: a table of damages, another of offsets."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from nereval_core.problems import FormatError, Problem
from nereval_core.readers import Reading, ReadOptions, Source, read, readers
from tests.support.layer_strategies import content
from tests.support.samples import SAMPLES, raw

TEXT = [name for name, (_, files, _) in SAMPLES.items() if not any(isinstance(one, bytes) for one in files.values())]
"""Samples of formats that are text."""
XML = [name for name in TEXT if SAMPLES[name][0] in ("bioc", "offsetxml", "tei") or name == "CAS as XMI"]
"""Those that say themselves how they are encoded, or may."""


def read_sample(name: str, change: Callable[[bytes], bytes]) -> Reading:
    """Read a sample whose last file is another."""
    format, files, layer = SAMPLES[name]
    last = list(files)[-1]
    given = {file: raw(one) for file, one in files.items()}
    given[last] = change(given[last])
    return read(Source.of_uploads(given.items()), format=format, options=ReadOptions(layer=layer))


def refused(name: str, change: Callable[[bytes], bytes]) -> Problem:
    with pytest.raises(FormatError) as caught:
        read_sample(name, change)
    return caught.value.problems[0]


@pytest.mark.parametrize("name", TEXT)
def test_marks_and_line_ends_make_no_difference(name: str) -> None:
    expected = content(read_sample(name, bytes).layer)
    changes: list[Callable[[bytes], bytes]] = [
        lambda given: b"\xef\xbb\xbf" + given,
        lambda given: given.replace(b"\n", b"\r\n"),
        lambda given: given.rstrip(b"\n"),
        lambda given: given + b"\n",
    ]
    for number, change in enumerate(changes):
        assert content(read_sample(name, change).layer) == expected, number


# XML says itself how it is encoded.
@pytest.mark.parametrize("name", [name for name in TEXT if name not in XML])
def test_other_encodings_are_named(name: str) -> None:
    for encoding in ("UTF-16", "UTF-32"):
        problem = refused(name, lambda given, encoding=encoding: given.decode().encode(encoding))  # type: ignore[misc]
        assert (problem.line, problem.found) == (None, f"the file is {encoding}")
        assert problem.remedy.startswith(f"save it as UTF-8: iconv -f {encoding} -t UTF-8 ")


@pytest.mark.parametrize("name", TEXT)
def test_a_byte_that_is_no_text_is_found_at_its_line(name: str) -> None:
    lines = len(raw(list(SAMPLES[name][1].values())[-1]).splitlines())
    for line in {1, lines}:

        def spoil(given: bytes, line: int = line) -> bytes:
            rows = given.split(b"\n")
            rows[line - 1] = b"\xff" + rows[line - 1]
            return b"\n".join(rows)

        problem = refused(name, spoil)
        assert problem.line == line, problem
        assert "is not UTF-8" in problem.found or "not XML" in problem.found


CUT = [
    # (sample, bytes that are lost, line, said)
    ("native", 3, 1, "not JSON at position"),
    ("doccano triples", 3, 3, "not JSON at position"),
    ("Prodigy", 3, 4, "not JSON at position"),
    ("Label Studio", 2, 171, "the list is cut off"),
    ("groups of a pipeline", 3, 2, "not JSON at position"),
    ("Hugging Face dataset", 3, 2, "not JSON at position"),
    ("BioC XML", 3, 36, "not XML: unclosed token"),
    ("BioC JSON lines", 3, 2, "not JSON at position"),
    ("CAS as XMI", 3, 12, "not XML: unclosed token"),
    ("CAS as JSON", 1, 1, "not JSON at position"),
    ("WebAnno TSV", 5, 24, "9 columns where the layers declared make 10"),
    ("spaCy DocBin", 3, None, "the file is cut off"),
    ("CSV", len(b",,,,,Nobody.\n") - 1, 4, "2 cells under 6 columns"),
    ("PubTator", len("\tDisease\t-1\n"), 11, "is not a span"),
    ("GENETAG", 3, 1, "the quoted text 'ab' is not the text"),
    ("brat", len(b" 0 1\ta\n"), 1, "is not a T line"),
    ("CoNLL", len(b"B-PER\n"), 4, "'' is not a tag"),
    ("HIPE", len(b"\tB-loc\n"), 3, "1 cell, so no tag in column NE-COARSE-LIT"),
]


@pytest.mark.parametrize(("name", "lost", "line", "said"), CUT, ids=[row[0] for row in CUT])
def test_a_file_that_is_cut_off_is_refused_at_its_end(name: str, lost: int, line: int | None, said: str) -> None:
    problem = refused(name, lambda given: given[:-lost])
    assert (problem.line, said in problem.found) == (line, True), problem


LINES = [name for name in TEXT if SAMPLES[name][0] in ("pubtator", "conll", "hipe")]


@pytest.mark.parametrize("name", LINES)
def test_lines_without_line_feeds_are_refused(name: str) -> None:
    problem = refused(name, lambda given: given.replace(b"\n", b"\r"))
    assert (problem.line, problem.found) == (None, "lines end in a carriage return alone")


PLACES = {
    # format: (file, what stands in it around a start, the message of a start that is not an integer); text "abc", end 2
    "jsonl": (
        "x.jsonl",
        '{"id": "a", "text": "abc", "spans": []}\n'
        '{"id": "b", "text": "abc", "spans": [{"start": HERE, "end": 2, "label": "A"}]}\n',
        "spans[0].start is ",
    ),
    "doccano": (
        "x.jsonl",
        '{"text": "abc", "label": []}\n{"text": "abc", "label": [[HERE, 2, "A"]]}\n',
        "label[0][0] is ",
    ),
    "prodigy": (
        "x.jsonl",
        '{"text": "abc", "spans": []}\n{"text": "abc", "spans": [{"start": HERE, "end": 2, "label": "A"}]}\n',
        "spans[0].start is ",
    ),
    "pipeline": (
        "x.jsonl",
        '{"text": "abc", "ents": []}\n{"text": "abc", "ents": [{"start": HERE, "end": 2, "label": "A"}]}\n',
        "ents[0] is not an entity",
    ),
    "pubannotation": (
        "x.jsonl",
        '{"text": "abc", "denotations": []}\n'
        '{"text": "abc", "denotations": [{"span": {"begin": HERE, "end": 2}, "obj": "A"}]}\n',
        "denotations[0].span.begin is ",
    ),
    "labelstudio": (
        "x.json",
        '[{"data": {"text": "abc"}, "annotations": [{"result": []}]},\n{"data": {"text": "abc"}, "annotations": '
        '[{"result": [{"id": "1", "type": "labels", "value": {"start": HERE, "end": 2, "labels": ["A"]}}]}]}]\n',
        "a result without start, end and labels",
    ),
    "csv": ("x.csv", "doc,start,end,label,text\nd,HERE,2,A,abc\n", "start is '"),
    "pubtator": ("x.txt", "1|t|abc\n1\tHERE\t2\tab\tA\n", "is not a span"),
    "bionlp": ("x.a1", "\nT1\tA HERE 2\tb\n", "is not a T line"),
    "brat": ("x.ann", "\nT1\tA HERE 2\tb\n", "is not a T line"),
    "spanlines": ("d.pipe", "d.txt||A||C||0||1\nd.txt||A||C||HERE||2\n", "is not a span"),
    "bc2gm": ("GENE.eval", "s|0 0|a\ns|HERE 1|b\n", "is not a mention"),
}
TEXTS = {
    "bionlp": {"x.txt": b"abc"},
    "brat": {"x.txt": b"abc"},
    "spanlines": {"d.txt": b"abc"},
    "bc2gm": {"s.in": b"s abc\n"},
}
"""Where the text stands beside."""
KINDS = ('"1"', "1.5", "true", "null", "[1]", "{}", '"' + "x" * 100_000 + '"')
NUMBERS = {
    "NaN": "NaN, which is not JSON",
    "Infinity": "Infinity, which is not JSON",
    "1e999": "the number 1e999 is too large",
    "9" * 5000: "a number with too many digits",
    "[" * 3000 + "]" * 3000: "JSON nested too deeply",
    "01": "not JSON at position",
    "": "not JSON at position",
    "1\0": "not JSON at position",
    "'1'": "not JSON at position",
}
"""What no JSON has, in any format of it."""
OUTSIDE = ("-1", "2", "3", "4", "9" * 30)
"""Starts that are not before the end at 2, or not in the text."""
LOOSE = {
    "csv": ('"1"', "01"),
    "labelstudio": ('"1"',),
    "pubtator": ("true", "null", "NaN", "Infinity", "01"),
    "bionlp": ("01", "9" * 5000),
    "brat": ("01", "9" * 5000),
    "spanlines": ("01",),
    "bc2gm": ("01", "9" * 5000),
}
"""What a format takes all the same, or for a number: quoted cells and digits, relations, leading zeros."""


def at_start(format: str, given: str) -> tuple[list[Problem], str]:
    file, text, _ = PLACES[format]
    with pytest.raises(FormatError) as caught:
        files = {**TEXTS.get(format, {}), file: text.replace("HERE", given).encode()}
        read(Source.of_uploads(files.items()), format=format)
    return list(caught.value.problems), file


@pytest.mark.parametrize("format", PLACES)
def test_offsets_of_the_wrong_kind_are_refused_at_their_line(format: str) -> None:
    _, _, said = PLACES[format]
    for given in KINDS:
        if given not in LOOSE.get(format, ()):
            [problem], file = at_start(format, given)
            assert (problem.source, problem.line, said in problem.found) == (file, 2, True), (given[:20], problem)
            assert problem.remedy and len(str(problem)) < 300


@pytest.mark.parametrize("format", PLACES)
def test_offsets_that_no_json_has_are_refused_at_their_line(format: str) -> None:
    json = PLACES[format][0].endswith((".json", ".jsonl"))
    for given, expected in NUMBERS.items():
        if given not in LOOSE.get(format, ()):
            [problem], file = at_start(format, given)
            said = expected if json else PLACES[format][2]
            assert (problem.source, problem.line, said in problem.found) == (file, 2, True), (given[:20], problem)


@pytest.mark.parametrize("format", PLACES)
def test_offsets_outside_the_text_are_refused_at_their_line(format: str) -> None:
    for given in OUTSIDE:
        problems, file = at_start(format, given)
        # Where there are quotes, that they fit nothing is said first.
        assert (problems[-1].source, problems[-1].line) == (file, 2), (given, problems)


def test_every_format_has_its_rows() -> None:
    """Those whose offsets are tokens, or that pack what they hold, have tables of their own."""
    of_tokens = {"conll", "hipe", "datasets", "webanno", "conllu", "tokentable", "slashtags", "tagrows", "ragged"}
    packed = {"parquet", "docbin"}
    of_their_own = {"bioc", "bracketed", "cas", "mentions", "inline", "nif", "offsetxml", "records", "tei"}
    assert {*readers()} - of_tokens - packed - of_their_own == {*PLACES}
