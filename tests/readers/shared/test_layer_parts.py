"""Several files as one layer: the parts united are the whole, in whatever formats they are."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nereval_core
from nereval_core.api.load import load_corpus
from nereval_core.cli import main
from nereval_core.corpus import SPAN_KEYS, Layer
from nereval_core.corpus.subset import select_documents, select_spans
from nereval_core.problems import FormatError
from nereval_core.readers import Reading, Source
from nereval_core.readers.recognition.preview import preview
from nereval_core.readers.shared.layer_parts import Part, join_parts
from tests.support import ROOT
from tests.support.draws import draws
from tests.support.layer_strategies import content, layers
from tests.support.shared_corpora import SHARED, needs

DEMO = ROOT / "demo_data" / "biology"
Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write documents as JSONL, id=spans, each with the same text."""
    monkeypatch.chdir(tmp_path)

    def made(name: str, **documents: list[tuple[int, int, str]]) -> str:
        rows = [
            {"id": id, "text": "Ann saw Bob", "spans": [{"start": a, "end": b, "label": kind} for a, b, kind in spans]}
            for id, spans in documents.items()
        ]
        Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return name

    return made


def cut(layer: Layer, numbers: Any) -> Reading:
    documents = select_documents(layer.documents, np.asarray(numbers, np.int64))
    return Reading(documents, select_spans(layer, np.asarray(numbers, np.int64), documents), "jsonl", source="cut")


@draws(13)
@given(layers(), st.data())
def test_parts_united_are_the_whole(layer: Layer, data: st.DataObject) -> None:
    count = len(layer.documents)
    at = data.draw(st.integers(0, count))
    parts = [cut(layer, range(at)), cut(layer, range(at, count))]
    found = join_parts([Part(part) for part in parts], source="both", name=layer.name)
    assert found.layer.digest == layer.digest
    assert found.layer.documents is found.documents
    # What is not in the digest: ids and metadata of spans, tokens, sentences, the types.
    assert found.layer.types == layer.types
    wanted, made = content(layer), content(found.layer)
    for key in ("ids", "texts", "doc", "start", "end", "label", *(f"spans' {key}" for key in SPAN_KEYS)):
        assert list(made[key]) == list(wanted[key]) if key in ("ids", "texts") else made[key] == wanted[key], key
    for key in ("tokens", "sentences"):
        assert (made[key] or [[]] * count) == (wanted[key] or [[]] * count)
    swapped = join_parts([Part(part) for part in reversed(parts)], source="both", name=layer.name)
    assert swapped.layer.digest == layer.digest


def test_parts_may_have_different_formats(tmp_path: Path) -> None:
    rows = (DEMO / "gold.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "one.jsonl").write_text("".join(rows[:7]), encoding="utf-8")
    (tmp_path / "two.jsonl").write_text("".join(rows[7:]), encoding="utf-8")
    nereval_core.write(nereval_core.read(tmp_path / "two.jsonl"), tmp_path / "two", format="brat", lossy=True)
    whole = nereval_core.read(DEMO / "gold.jsonl")
    found = nereval_core.read([tmp_path / "one.jsonl", tmp_path / "two"])
    # brat holds no metadata of documents, and the digest does not look at any.
    assert found.layer.digest == whole.layer.digest
    assert found.format == "brat + jsonl"
    assert [note.split(": ")[1] for note in found.notes][:1] == ["jsonl, 7 documents, 57 spans"]
    assert found.places[0] == (str(tmp_path / "one.jsonl"), 1)


def test_scores_of_parts_are_those_of_the_whole(write: Write) -> None:
    ann, bob = (0, 3, "PER"), (8, 11, "PER")
    write("gold.jsonl", a=[ann], b=[ann, bob])
    write("gold-b.jsonl", b=[ann, bob])
    write("gold-a.jsonl", a=[ann])
    write("run.jsonl", a=[bob], b=[bob])
    whole = nereval_core.score("gold.jsonl", "run.jsonl")
    parts = nereval_core.score(["gold-b.jsonl", "gold-a.jsonl"], "run.jsonl")
    assert parts.counts("strict") == whole.counts("strict")
    assert (parts.read_gold, parts.marks) == (whole.read_gold, whole.marks)
    loaded = load_corpus(["gold-b.jsonl", "gold-a.jsonl"], {"run": ["run.jsonl"]})
    assert loaded.corpus.name == "gold-b + gold-a"


def test_documents_without_ids_are_numbered_through(tmp_path: Path) -> None:
    (tmp_path / "one.conll").write_text("Ann B-PER\n\nsaw O\n", encoding="utf-8")
    (tmp_path / "two.conll").write_text("Bob B-PER\n", encoding="utf-8")
    (tmp_path / "all.conll").write_text("Ann B-PER\n\nsaw O\n\nBob B-PER\n", encoding="utf-8")
    found = nereval_core.read([tmp_path / "one.conll", tmp_path / "two.conll"])
    whole = nereval_core.read(tmp_path / "all.conll")
    assert (found.documents.ids, found.documents.named) == (("1", "2", "3"), False)
    assert (found.layer.digest, found.scheme) == (whole.layer.digest, whole.scheme)


REFUSED = [
    pytest.param(
        {"a": [], "b": []},
        {"b": [], "c": []},
        ["two.jsonl:1: document 'b' stands at one.jsonl:2 already, in another part of the same layer; "],
        id="one document",
    ),
    pytest.param(
        {"a": [], "b": [], "c": []},
        {"b": [], "c": []},
        ["two.jsonl:1: document 'b' stands at one.jsonl:2 already, in another part of the same layer; so do the 1 "],
        id="all of a part",
    ),
    pytest.param(
        {"a": [(0, 99, "PER")]},
        {"b": [(0, 0, "PER")]},
        ["one.jsonl:1: span [0, 99)", "two.jsonl:1: span [0, 0)"],
        id="problems of both",
    ),
]


@pytest.mark.parametrize(("one", "two", "said"), REFUSED)
def test_what_does_not_fit_is_refused(write: Write, one: Any, two: Any, said: list[str]) -> None:
    write("one.jsonl", **one)
    write("two.jsonl", **two)
    with pytest.raises(FormatError) as caught:
        nereval_core.read(["one.jsonl", "two.jsonl"])
    lines = [str(problem) for problem in caught.value.problems]
    assert len(lines) == len(said) and all(line.startswith(begin) for line, begin in zip(lines, said, strict=True))


def test_ids_in_some_parts_only_are_refused(write: Write) -> None:
    write("one.jsonl", a=[])
    Path("two.conll").write_text("Bob B-PER\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"two\.conll: documents have no ids, those of one\.jsonl have; give"):
        nereval_core.read(["one.jsonl", "two.conll"])
    with pytest.raises(FormatError, match="no file or folder is given"):
        nereval_core.read([])


def test_parts_without_texts_take_golds(tmp_path: Path) -> None:
    gold = nereval_core.read(DEMO / "gold.jsonl")
    rules = nereval_core.read(DEMO / "rules.jsonl").layer
    rows = ["document,start,end,type\n"]
    for span in range(len(rules)):
        name = rules.documents.ids[rules.doc[span]]
        rows.append(f"{name},{rules.start[span]},{rules.end[span]},{rules.label(span)}\n")
    at = next(number for number, row in enumerate(rows) if row.startswith("bio-09"))
    (tmp_path / "run.csv").write_text("".join(rows), encoding="utf-8")
    (tmp_path / "one.csv").write_text("".join(rows[:at]), encoding="utf-8")
    (tmp_path / "two.csv").write_text("".join((rows[0], *rows[at:])), encoding="utf-8")
    whole = nereval_core.read(tmp_path / "run.csv", texts=gold.documents)
    found = nereval_core.read([tmp_path / "one.csv", tmp_path / "two.csv"], texts=gold.documents)
    assert found.layer.digest == whole.layer.digest


def test_malformed_tags_are_added_up(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.conll").write_text("Ann B-PER\nsaw I-LOC\n\nBob I-PER\n", encoding="utf-8")
    paths = [tmp_path / "one.conll", tmp_path / "two.conll"]
    found = nereval_core.read(paths, scheme="IOB2", repair="conlleval")
    assert found.mended == "4 malformed chunks cut as conlleval does"


LAYERS = [
    {
        "id": number,
        "data": {"text": "Ann saw Bob"},
        "annotations": [
            {
                "completed_by": who,
                "result": [
                    {
                        "id": "x",
                        "type": "labels",
                        "from_name": "label",
                        "to_name": "text",
                        "value": {"start": 0, "end": 3, "text": "Ann", "labels": [who]},
                    }
                ],
            }
            for who in ("ann", "bob")
        ],
    }
    for number in (1, 2)
]


def test_a_layer_of_each_of_several_files(tmp_path: Path) -> None:
    for number, task in enumerate(LAYERS):
        (tmp_path / f"{number}.json").write_text(json.dumps([task]), encoding="utf-8")
    found = nereval_core.read([f"{tmp_path}/0.json#bob", f"{tmp_path}/1.json#bob"])
    assert (found.documents.ids, found.layer.types) == (("1", "2"), ("bob",))


CLI = [
    ("gold=a.jsonl gold=b.jsonl run=run.jsonl", ["run"]),
    ("gold=a.jsonl run.jsonl gold=b.jsonl x=a-run.jsonl x=b-run.jsonl", ["run", "x"]),
    ("gold.jsonl x=a-run.jsonl run.jsonl x=b-run.jsonl", ["x", "run"]),
]


@pytest.mark.parametrize(("line", "names"), CLI, ids=[line for line, _ in CLI])
def test_files_of_one_name_are_parts(
    write: Write, line: str, names: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    ann, bob = (0, 3, "PER"), (8, 11, "PER")
    write("gold.jsonl", a=[ann], b=[ann, bob])
    for part, spans in (("a", [ann]), ("b", [ann, bob])):
        write(f"{part}.jsonl", **{part: spans})
        write(f"{part}-run.jsonl", **{part: [bob]})
    write("run.jsonl", a=[bob], b=[bob])
    assert main(["score", *line.split(), "--quiet", "--json", "-"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert [system["name"] for system in found["systems"]] == names
    whole = nereval_core.score("gold.jsonl", "run.jsonl")
    for system in found["systems"]:
        assert system["sha256"] == whole.read_pred
        assert system["criteria"]["strict"]["COR"] == 1
    assert found["gold"]["sha256"] == whole.read_gold


USED = [
    ("agreement gold=a.jsonl gold=b.jsonl run=run.jsonl --quiet", ""),
    ("consistency gold=a.jsonl gold=b.jsonl --quiet", ""),
    ("errors gold=a.jsonl gold=b.jsonl x=run.jsonl --mend all --out out.jsonl --quiet", ""),
    ("score gold=a.jsonl gold=b.jsonl run.jsonl --convention nervaluate-1.2.1 --quiet", ""),
    ("score gold=a.jsonl gold=b.jsonl run.jsonl --engine local", "have no use with --engine"),
    ("score gold=a.jsonl gold=b.jsonl", "name a prediction after gold"),
    ("score gold=a.jsonl gold=a.jsonl run.jsonl", "a.jsonl:1: document 'a' stands at a.jsonl:1 already"),
    ("score gold=a.jsonl =b.jsonl run.jsonl", "a system without a name or a path"),
    ("score gold=a.jsonl gold=b.jsonl run.jsonl --json a.jsonl", "would overwrite an input"),
    ("score gold.jsonl run=a.jsonl run=b.jsonl run.jsonl", ""),
]


@pytest.mark.parametrize(("line", "said"), USED, ids=[line for line, _ in USED])
def test_every_verb_takes_parts(write: Write, line: str, said: str, capfd: pytest.CaptureFixture[str]) -> None:
    ann, bob = (0, 3, "PER"), (8, 11, "PER")
    write("gold.jsonl", a=[ann], b=[ann, bob])
    write("a.jsonl", a=[ann])
    write("b.jsonl", b=[ann, bob])
    write("run.jsonl", a=[bob], b=[bob])
    status = main(line.split())
    out, err = capfd.readouterr()
    assert status == (2 if said else 0), err
    assert said in err
    assert said or out or "--out" in line


def test_parts_are_told_apart_when_a_source_is_made() -> None:
    one, two = (Source.of_uploads([(f"{name}.jsonl", b"{}")]) for name in ("one", "two"))
    assert Source.of_parts([one]) is one
    both = Source.of_parts([one, two, one, two])
    assert (both.name, both.label, len(both.files)) == ("one.jsonl + two.jsonl + 2 more", "one + two + 2 more", 4)


APART = [
    (["a.jsonl", "b.jsonl"], [["a.jsonl"], ["b.jsonl"]]),
    (["a.ann", "a.txt", "b.txt"], [["a.ann", "a.txt"], ["b.txt"]]),
    (
        ["x/a.spans.parquet", "x/a.texts.parquet", "x/b.spans.csv"],
        [["x/a.spans.parquet", "x/a.texts.parquet"], ["x/b.spans.csv"]],
    ),
    (["a.json", "b.xmi", "TypeSystem.xml"], [["TypeSystem.xml", "b.xmi"], ["a.json"]]),
]


@pytest.mark.parametrize(("names", "parts"), APART)
def test_files_taken_apart_stay_with_their_companions(names: list[str], parts: list[list[str]]) -> None:
    source = Source.of_uploads([(name, b"{}") for name in names], name="all")
    found = source.apart()
    assert [[file.name for file in part.files] for part in found.parts] == parts
    assert (found.name, found.label) == ("all", "all")


def test_a_preview_says_which_formats_files_have_by_themselves() -> None:
    row = b'{"id": "d", "text": "Ann", "spans": []}\n'
    tags = b"Ann B-PER\nsaw O\n"
    assert preview(Source.of_uploads([("a.jsonl", row), ("b.conll", tags)])).apart == ("conll", "jsonl")
    assert preview(Source.of_uploads([("a.jsonl", row), ("b.jsonl", row)])).apart == ()
    assert preview(Source.of_uploads([("a.jsonl", row), ("b.md", b"# Notes")])).apart == ()


@needs("wnut17")
def test_a_real_corpus_in_two_parts_is_the_whole(tmp_path: Path) -> None:
    gold, run = SHARED / "wnut17" / "emerging.test.annotated", SHARED / "wnut17" / "submissions" / "arcada"
    sentences = gold.read_text(encoding="utf-8").split("\n\n")
    for name, some in (("one", sentences[:500]), ("two", sentences[500:])):
        (tmp_path / name).write_text("\n\n".join(some) + "\n\n", encoding="utf-8")
    whole = load_corpus(gold, {"arcada": run})
    parts = load_corpus([tmp_path / "one", tmp_path / "two"], {"arcada": run})
    assert parts.corpus.digest == whole.corpus.digest
    assert (len(parts.corpus.documents), len(parts.corpus.gold)) == (1287, 1079)


def test_converting_several_files_makes_one(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    parts = [write("a.jsonl", d1=[(0, 3, "PER")]), write("b.jsonl", d2=[(8, 11, "PER")])]
    assert main(["convert", parts[1], "b-brat", "--to", "brat"]) == 0
    assert main(["convert", "a.jsonl", "b-brat", "both.jsonl", "--to", "jsonl"]) == 0
    both = nereval_core.read("both.jsonl").layer
    assert both.digest == nereval_core.read(parts).layer.digest and both.documents.ids == ("d1", "d2")
    capsys.readouterr()
    assert main(["convert", "a.jsonl", "b.jsonl", "b.jsonl", "--to", "jsonl"]) == 2
    assert "'b.jsonl' would overwrite an input" in capsys.readouterr().err
    assert main(["convert", "a.jsonl", "--to", "jsonl"]) == 2
    assert "OUT" in capsys.readouterr().err
