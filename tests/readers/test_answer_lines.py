"""Answers in lines, as models write them where they were not asked for JSON: read with and without gold, or refused."""

from __future__ import annotations

import json

import pytest

from nereval_core.problems import FormatError
from nereval_core.readers import Reading, ReadOptions, Source, read
from nereval_core.readers.mentions.answer_lines import pairs_of_lines, says_nothing
from tests.readers.test_answers import TEXT, read_line, spans
from tests.support.record_files import TEXT as OTHER_TEXT

BOTH = [(0, "PER"), (12, "LOC")]

READ = {
    # An answer in lines: its spans with gold's types; whether they are the same without.
    "bullets": ("- Ada: PER\n- Oslo: LOC", BOTH, True),
    "brackets behind": ("Here they are:\n* Ada (PER)\n* Oslo (LOC)\n\nLet me know!", BOTH, True),
    "numbers": ("1. Ada - PER\n2) Oslo – LOC", BOTH, True),
    "arrows": ("Ada -> PER\nOslo → LOC", BOTH, True),
    "bars": ("Ada | PER\nOslo | LOC", BOTH, True),
    "tabs": ("Ada\tPER\nOslo\tLOC", BOTH, True),
    "types first": ("- PER: Ada\n- LOC: Oslo", BOTH, True),
    "bold types first": ("**PER:** Ada\n**LOC:** Oslo", BOTH, True),
    "several of a type": ("PER: Ada, Smith\nLOC: Oslo", [*BOTH, (21, "PER")], False),
    "below their types": ("PER:\n- Ada\n\n**LOC**\n- Oslo", BOTH, True),
    "further in below their types": ("- PER\n  - Ada\n- LOC:\n  - Oslo", BOTH, False),
    "a table": ("| Entity | Type |\n|---|:--:|\n| **Ada** | PER |\n| Oslo | LOC |\n\nDone.", BOTH, True),
    "a table without the usual head": ("| a | b |\n|---|---|\n| Ada | PER |\n| Oslo | LOC |", BOTH, True),
    "a table of three columns": ("| No | Type | Text |\n|--|--|--|\n| 1 | PER | Ada |\n| 2 | LOC | Oslo |", BOTH, True),
    "links": ("[Ada](PER) flew to [Oslo](LOC).", BOTH, True),
    "brackets": ("[PER Ada ] flew to [LOC Oslo].", BOTH, False),
    "brackets with bars": ("[ Ada | PER ] flew to [ Oslo | LOC ].", BOTH, False),
    "bold with types behind": ("**Ada** (PER) flew to **Oslo** [LOC].", BOTH, False),
    "tuples without quotation marks": ("(Ada, PER)\n(Oslo, LOC)", BOTH, False),
    "a line of tuples": ("(Ada, PER), (Oslo, LOC)", BOTH, False),
    "types first in a line": ("PER: Ada; LOC: Oslo", BOTH, False),
    "types first in a line, of several": ("PER: Ada, Smith, LOC: Oslo", [*BOTH, (21, "PER")], False),
    "lines with commas": ("entity,type\nAda,PER\nOslo,LOC", BOTH, True),
    "YAML": ("entities:\n  - text: Ada\n    type: PER\n  - text: Oslo\n    type: LOC", BOTH, True),
    "forms": ("Entity: Ada\nType: PER\n\nEntity: Oslo\nType: LOC", BOTH, True),
    "a line of them": ("Ada (PER), Oslo (LOC)", BOTH, False),
    "with remarks": ("- Ada: PER (a person)\n- Oslo: LOC - a town", BOTH, False),
    "in a fence": ("```\n- Ada: PER\n- Oslo: LOC\n```", BOTH, True),
    "a table with single dashes": (
        "| # | Entity | Category |\n|:-:|-|-|\n| 1 | Ada | PER |\n| 2 | Oslo | LOC |",
        BOTH,
        True,
    ),
    "an empty table": ("| Entity | Type |\n|---|---|", [], True),
    "none in a bullet": ("- None", [], True),
    "none of any type": ("PER: None\nLOC: none", [], False),
    "nothing below any type": ("PER:\nLOC:", [], False),
    "as spaCy-LLM asks for": ("1. Ada | True | PER | a name\n2. Smith | False | PER | a firm", [(0, "PER")], False),
    "none": ("No entities found.", [], True),
    "none of a type": ("PER: Ada\nLOC: none", [(0, "PER")], False),
}


@pytest.mark.parametrize("name", READ)
def test_answers_in_lines(name: str) -> None:
    answer, expected, without_gold = READ[name]
    assert sorted(spans(read_line({"id": "d", "answer": answer}))) == sorted(expected)
    try:
        alone = sorted(spans(read_line({"answer": answer}, (), own_text=True)))
    except FormatError:
        assert not without_gold
    else:
        assert alone == sorted(expected) or not without_gold
        # What is not known without gold is refused, or read with less; never otherwise.
        assert without_gold or {start for start, _ in alone} <= {start for start, _ in expected}


REFUSED = (
    "- Ada",
    "I found Ada and Oslo.",
    "- Ada: PER\n- Oslo",
    "Ada: PER\nand then Oslo\nOslo: LOC",
    "| Ada | PER |\n|---|---|\n| Oslo |",
    "Ada | PER | Oslo | LOC",
    "[Ada](https://example.org/PER) flew",
    "entity,type\nAda,PER\nOslo",
    "Entity: Ada\nType: PER\nEntity: Oslo",
    "(Ada, PER) flew to Oslo",
)


@pytest.mark.parametrize("answer", REFUSED)
def test_an_answer_that_is_no_list_throughout_is_refused(answer: str) -> None:
    with pytest.raises(FormatError, match="neither JSON nor tags in"):
        read_line({"id": "d", "answer": answer})


def test_hostile_lines_are_done_with_at_once() -> None:
    for answer in (
        "[A" + " " * 60_000,
        "- a" + " " * 60_000 + "b",
        "- " + "(" * 30_000,
        "|-" * 30_000,
        "a\t" * 30_000,
        "(a" + ", " * 30_000,
        "[a" * 30_000 + "|" * 30_000,
        "a " * 30_000 + ":",
    ):
        assert not pairs_of_lines(answer, ("per",))


def test_an_output_of_alpaca_is_an_answer() -> None:
    row = {"instruction": "Find names.", "input": TEXT, "text": TEXT, "output": "- Ada: PER\n- Oslo: LOC"}
    reading = read(Source.of_uploads([("x.jsonl", json.dumps(row).encode())]))
    assert (reading.format, spans(reading)) == ("mentions", BOTH)


@pytest.mark.parametrize("key", ["output", "prediction", "result", "raw", "text_output"])
@pytest.mark.parametrize(
    "answer", ["| Entity | Type |\n|---|---|\n| Ada | PER |\n| Oslo | LOC |", "- Ada: PER\n- Oslo: LOC"]
)
def test_lists_and_tables_are_answers_under_other_keys_too(key: str, answer: str) -> None:
    source = Source.of_uploads([("x.jsonl", json.dumps({"id": "d", key: answer, "text": TEXT}).encode())])
    reading = read(source)
    assert (reading.format, spans(reading)) == ("mentions", BOTH)


@pytest.mark.parametrize("head", ["Text span", "Extracted Text", "Span-Text"])
def test_columns_of_tables_have_many_names(head: str) -> None:
    answer = f"| # | {head} | Label |\n|---|---|---|\n| 1 | Ada | PER |\n| 2 | Oslo | LOC |"
    assert spans(read_line({"id": "d", "answer": answer})) == BOTH


def test_a_head_that_is_not_understood_is_quoted_with_its_own_remedy() -> None:
    answer = "Sure!\n\n| # | Foo | Bar |\n|---|---|---|\n| 1 | Ada | PER |"
    with pytest.raises(
        FormatError, match=r"the head '\| # \| Foo \| Bar \|'; call the columns .* Entity and Type in it$"
    ):
        read_line({"id": "d", "answer": answer})


def test_a_request_that_failed_is_to_be_sent_again() -> None:
    row = {"custom_id": "d", "response": None, "error": {"message": "expired"}}
    with pytest.raises(
        FormatError, match="the request failed: 'expired'; send the request again, or count it as empty"
    ):
        read_line(row)


def test_one_line_without_gold_is_no_list() -> None:
    assert pairs_of_lines("Sorry: no", ()) is None
    assert pairs_of_lines("PER:\n- Ada\nLOC: [Oslo]", ()) is None
    assert not says_nothing("No entities of this kind but Ada")


def bare(*lists: object, texts: int = 2, name: str = "out.json", lines: bool = False) -> Reading:
    gold = read(
        Source.of_uploads(
            [
                (
                    "g.jsonl",
                    "".join(
                        json.dumps({"id": f"d{at}", "text": TEXT, "spans": []}) + "\n" for at in range(texts)
                    ).encode(),
                )
            ]
        )
    )
    content = "".join(json.dumps(one) + "\n" for one in lists) if lines else json.dumps(lists)
    source = Source.of_uploads([(name, content.encode())])
    return read(source, options=ReadOptions(texts=gold.documents))


ADA = {"entity_group": "PER", "score": 0.5, "word": "ada", "start": 0, "end": 3}


def test_lists_of_a_pipeline_are_those_of_golds_documents() -> None:
    for lists in (([ADA], []), ([], [ADA])):
        for lines in (False, True):
            if lines and not lists[0]:
                continue
            reading = bare(*lists, lines=lines)
            assert (reading.format, reading.documents.ids) == ("pipeline", ("d0", "d1"))
            assert (spans(reading), reading.layer.doc.tolist()) == ([(0, "PER")], [0 if lists[0] else 1])
    # The output for one text is one list.
    assert spans(bare(ADA, texts=1)) == [(0, "PER")]
    pieces = [
        {"entity": "B-PER", "index": 1, "word": "A", "start": 0, "end": 1},
        {"entity": "I-PER", "index": 2, "word": "##da", "start": 1, "end": 3},
    ]
    assert spans(bare([*pieces], texts=1)) == [(0, "PER")]


def test_lists_of_a_pipeline_that_are_not_golds_are_refused() -> None:
    with pytest.raises(FormatError, match="1 list of entities where gold has 2 documents"):
        bare([ADA])
    with pytest.raises(FormatError, match="entities without the texts that they stand in"):
        read(Source.of_uploads([("x.json", json.dumps([[ADA]]).encode())]))


def test_places_of_langextract_are_read_and_a_mention_without_one_is_made_up() -> None:
    extractions = [
        {"extraction_class": "PER", "extraction_text": "Ann", "char_interval": {"start_pos": 0, "end_pos": 3}},
        {"extraction_class": "LOC", "extraction_text": "the Rome", "char_interval": {"start_pos": 11, "end_pos": 15}},
        {"extraction_class": "LOC", "extraction_text": "Paris", "char_interval": None, "alignment_status": None},
    ]
    extractions[0]["alignment_status"], extractions[1]["alignment_status"] = "match_exact", "match_fuzzy"
    row = {"extractions": extractions, "text": OTHER_TEXT, "document_id": "doc_1"}
    reading = read(Source.of_uploads([("x.jsonl", json.dumps(row).encode())]))
    assert (reading.format, spans(reading)) == ("mentions", [(0, "PER"), (11, "LOC"), (15, "LOC")])
    assert "nowhere 1" in reading.placed
    # A place that its words do not confirm, and that was not aligned, is refused.
    extractions[1]["alignment_status"] = "match_exact"
    with pytest.raises(FormatError, match="the quotes fit no way to count offsets"):
        read(Source.of_uploads([("x.jsonl", json.dumps(row).encode())]))
