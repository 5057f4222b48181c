"""Every option that a message names is followed on the input that caused the message, and reads it plausibly."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from nereval_core.api.load import load_corpus
from nereval_core.cli import verb_parser
from nereval_core.cli.options import load_options
from nereval_core.problems import FormatError, Problem
from nereval_core.readers.recognition.remedies import implausible
from tests.support import ROOT
from tests.support.samples import BIOC, CAS_JSON, CONLLU

OPTION = re.compile(r"(--[a-z][a-z-]+)(?: (?!--|or |and )([^\s;()]+))?")
FLAGS = ("--align-text",)
"""Options without a value."""

GOLD = "Ann\tB-PER\nleft\tO\nRome\tB-LOC\n\nBob\tB-PER\nstayed\tO\n\n"
TEXTS = {"id": "d1", "text": "Ann left Rome"}
SPANS = [{"start": 0, "end": 3, "label": "PER"}, {"start": 9, "end": 13, "label": "LOC"}]
GOLD_JSON = json.dumps({**TEXTS, "spans": SPANS}) + "\n"
TWO_JSON = GOLD_JSON + json.dumps({"id": "d2", "text": "Bob", "spans": [{"start": 0, "end": 3, "label": "PER"}]}) + "\n"


HIPE_COLUMNS = "TOKEN\tNE-COARSE-LIT\tMISC\n# document_id = d1\nAnn\t{}\t_\nleft\tO\t_\nRome\t{}\t_\n"


@dataclass(frozen=True)
class Case:
    """A message and the files that cause it: `values` are those of options that it names without one."""

    finding: str
    pred: Mapping[str, str]
    gold: Mapping[str, str] = field(default_factory=lambda: {"gold.conll": GOLD})
    given: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    options: int = 1
    """The number of ways that name an option."""


def pred(text: str, name: str = "pred.conll") -> dict[str, str]:
    return {name: text}


def gold(text: str, name: str = "gold.jsonl") -> dict[str, str]:
    return {name: text}


def labelstudio_task(text: str, *quotes: tuple[int, int, str]) -> dict[str, Any]:
    values = [{"start": start, "end": end, "text": quote, "labels": ["X"]} for start, end, quote in quotes]
    results = [{"id": str(number), "type": "labels", "value": value} for number, value in enumerate(values)]
    return {"data": {"text": text}, "annotations": [{"result": results}]}


CASES = {
    "types without O": Case("the last holds 'O', 'X'", pred("a\tO\nb\tX\n"), gold("a\tO\nb\tI-X\n", "gold.conll")),
    "two formats": Case(
        "this may be brat or jsonl",
        {"d.txt": "Ann left Rome", "d.ann": "T1\tPER 0 3\tAnn\n", "x.jsonl": GOLD_JSON.replace("d1", "d")},
        gold(GOLD_JSON.replace("d1", "d")),
        options=2,
    ),
    "columns of spans": Case(
        "the format cannot be recognised",
        pred("Akte,von,bis,Art\nd1,0,3,PER\nd1,9,13,LOC\n", "pred.csv"),
        gold(GOLD_JSON),
        values={"--span-columns": "document=Akte,start=von,end=bis,type=Art"},
    ),
    "a column of spans": Case(
        "no column for type",
        pred("doc,start,end,Art\nd1,0,3,PER\nd1,9,13,LOC\n", "pred.csv"),
        gold(GOLD_JSON),
        given="--pred-format csv",
        values={"--span-columns": "type=Art"},
    ),
    "two columns of a table": Case(
        "2 columns hold",
        pred("word,label,prediction\nAnn,B-PER,B-LOC\nleft,O,O\nRome,B-LOC,O\n", "pred.csv"),
        gold("Ann\tB-PER\nleft\tO\nRome\tB-LOC\n", "gold.conll"),
        options=2,
    ),
    "numbers of labels": Case(
        "the tags are numbers of labels",
        pred("Ann\t1\nleft\t0\nRome\t3\n\nBob\t1\nstayed\t0\n\n"),
        given="--pred-format conll",
        values={"--labels": "O,B-PER,I-PER,B-LOC"},
    ),
    "types": Case(
        "'PER' is not a tag",
        pred("Ann\tPER\nleft\tO\nRome\tB-LOC\n\nBob\tPER\nstayed\tO\n\n"),
        gold("Ann\tI-PER\nleft\tO\nRome\tI-LOC\n\nBob\tI-PER\nstayed\tO\n\n", "gold.conll"),
        given="--pred-format conll",
        options=0,
    ),
    "a word for outside": Case(
        "is not a tag",
        pred("Ann\tB-PER\nleft\tO\nRome\t-\n\nBob\tB-PER\nstayed\tO\n\n"),
        given="--pred-format conll",
    ),
    "an unusual word for outside": Case(
        "the format cannot be recognised",
        pred("Ann\tB-PER\nleft\tX\nRome\tB-LOC\n\nBob\tB-PER\nstayed\tX\n\n"),
    ),
    "another scheme": Case(
        "is not a tag of IOB2",
        pred("Ann\tS-PER\nleft\tO\nRome\tS-LOC\n\nBob\tS-PER\nstayed\tO\n\n"),
        gold("Ann\tS-PER\nleft\tO\nRome\tS-LOC\n\nBob\tS-PER\nstayed\tO\n\n", "gold.conll"),
        given="--scheme IOB2",
    ),
    "malformed tags": Case(
        "is not legal in IOB2",
        pred("Ann\tB-PER\nleft\tO\nRome\tI-LOC\n\nBob\tB-PER\nstayed\tO\n\n"),
        options=2,
    ),
    "two columns": Case(
        "2 columns hold tags",
        pred("Ann\tB-PER\tB-LOC\nleft\tO\tO\nRome\tB-LOC\tO\n\nBob\tO\tB-PER\nstayed\tO\tO\n\n"),
        options=3,
    ),
    "an answer": Case(
        "neither JSON nor tags",
        pred('{"id": "d1", "response": "{\\"PER\\": [\\"Ann\\"]}"}\n{"id": "d2", "response": "I cannot"}\n', "p.jsonl"),
        gold(TWO_JSON),
        given="--pred-format mentions",
    ),
    "an infon": Case(
        "no type in an infon 'type'",
        pred(
            BIOC.replace('<infon key="type">Disease', '<infon key="kind">Disease')
            .replace('<infon key="type">Gene', '<infon key="kind">Gene')
            .replace('<infon key="type">MeSH_Indexing_Chemical', '<infon key="kind">MeSH'),
            "p.xml",
        ),
        pred(BIOC, "g.xml"),
        values={"--pred-column": "kind"},
    ),
    "no tags in CoNLL-U": Case(
        "no entities: no NE=",
        pred(CONLLU.replace("NE=", "Kind="), "p.conllu"),
        pred(CONLLU, "g.conllu"),
        values={"--pred-column": "Kind"},
    ),
    "a missing document": Case("d2", pred(GOLD_JSON, "p.jsonl"), gold(TWO_JSON), options=2),
    "a document too many": Case("d2", pred(TWO_JSON, "p.jsonl"), gold(GOLD_JSON)),
    "other ids and words": Case(
        "no document of",
        pred("# id = x1\n" + GOLD.replace("left", "l3ft").replace("stayed", "st4yed"), "p.conll"),
        gold("# id = d1\n" + GOLD, "g.conll"),
    ),
    "fewer documents": Case(
        "1 document where",
        pred(json.dumps(["Bob stayed", {"entities": [[0, 3, "PER"]]}]).join("[]"), "p.json"),
        pred(json.dumps([["Ann left", {"entities": [[0, 3, "PER"]]}], ["Bob stayed", {"entities": []}]]), "g.json"),
    ),
    "ids swapped": Case(
        "differs from",
        pred(TWO_JSON.replace('"d1"', '"x"').replace('"d2"', '"d1"').replace('"x"', '"d2"'), "p.jsonl"),
        gold(TWO_JSON),
    ),
    "another text": Case(
        "",
        pred(GOLD_JSON.replace("Ann left", "Ann  left").replace("9", "10").replace("13", "14"), "p.jsonl"),
        gold(GOLD_JSON),
    ),
    "another token": Case("", pred(GOLD.replace("left", "l3ft"))),
    "bytes": Case(
        "is not a place in the text",
        pred(json.dumps({"text": "Ännä löves Röme", "label": [[13, 18, "LOC"]]}), "p.jsonl"),
        pred(json.dumps({"text": "Ännä löves Röme", "label": [[11, 15, "LOC"]]}), "g.jsonl"),
    ),
    "two units": Case(
        "the quotes fit offsets in",
        pred(json.dumps([labelstudio_task("aaaa", (1, 1, "a"), (2, 2, "a"))]), "p.json"),
        gold(json.dumps({"id": "1", "text": "aaaa", "spans": [{"start": 1, "end": 2, "label": "X"}]}) + "\n"),
        options=2,
    ),
    "numbers in a data set": Case(
        "tags are numbers, and there is no list of labels",
        pred(json.dumps({"tokens": ["Ann", "left", "Rome"], "ner_tags": [1, 0, 3]}) + "\n", "p.jsonl"),
        gold(json.dumps({"tokens": ["Ann", "left", "Rome"], "ner_tags": ["B-PER", "O", "B-LOC"]}) + "\n"),
        values={"--labels": "O,B-PER,I-PER,B-LOC"},
    ),
    "another key of spans": Case(
        "no list of spans under other",
        pred(json.dumps({"tokenized_text": ["Ann", "left", "Rome"], "ner": [[0, 0, "PER"]]}) + "\n", "p.jsonl"),
        gold(json.dumps({"tokenized_text": ["Ann", "left", "Rome"], "ner": [[0, 0, "PER"]]}) + "\n"),
        given="--pred-column other",
    ),
    "features of a CAS": Case(
        "has the features",
        pred(
            json.dumps({key: value for key, value in json.loads(CAS_JSON).items() if key != "%TYPES"}).replace(
                '"kind": "place"', '"kind": "place", "other": "town"'
            ),
            "p.json",
        ),
        pred(CAS_JSON, "g.json"),
        options=2,
    ),
    "a number for a key": Case(
        "is asked for, and entities stand in MISC",
        pred(CONLLU, "p.conllu"),
        pred(CONLLU, "g.conllu"),
        given="--pred-column 3",
    ),
    "a key that is empty": Case(
        "nothing under 'Other' in MISC", pred(CONLLU, "p.conllu"), pred(CONLLU, "g.conllu"), given="--pred-column Other"
    ),
    "two keys": Case(
        "entities under",
        pred(CONLLU.replace("NE=B-Per", "NE=B-Per|NER=B-Loc"), "p.conllu"),
        pred(CONLLU, "g.conllu"),
        options=2,
    ),
    "an orphan in HIPE": Case(
        "is not legal in IOB2",
        pred(HIPE_COLUMNS.format("I-pers", "B-loc"), "p.tsv"),
        pred(HIPE_COLUMNS.format("B-pers", "B-loc"), "g.tsv"),
    ),
    "cut sentences": Case("token", pred("Ann\tB-PER\nleft\tO\n\nBob\tB-PER\nstayed\tO\n\n")),
    "a missing end": Case("", pred("Ann\tB-PER\nleft\tO\nRome\tB-LOC\n\n")),
}


def written(files: Mapping[str, str], folder: Path) -> str:
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    return str(folder if len(files) > 1 else folder / next(iter(files)))


def problems_of(case: Case, places: tuple[str, str], more: str = "") -> tuple[Problem, ...]:
    """Return the problems of scoring, or those of a reading that looks wrong."""
    parsed = verb_parser("score").parse_args([*places, *case.given.split(), *more.split()])
    try:
        loaded = load_corpus(places[0], {"pred": places[1]}, options=load_options(parsed))
    except FormatError as error:
        return error.problems
    wrong = [implausible(reading) for reading in (loaded.gold, *loaded.systems.values())]
    return tuple(Problem(places[1], None, f"read, but {why}", "-") for why in wrong if why)


def ways(remedy: str, values: Mapping[str, Any]) -> list[str]:
    """Return the options of each way that a remedy names, with a value for each."""
    found = []
    for part in re.split(r"; | or (?=--|read|by side|pair|name|leave|count|score)|, or ", remedy):
        options = [
            (flag, "" if flag in FLAGS else values.get(flag) or (value or "").rstrip(",:."))
            for flag, value in OPTION.findall(part)
        ]
        if not options:
            continue
        assert all(value or flag in FLAGS for flag, value in options), f"no value in {part!r}"
        alternatives = options[0][1].split("|") if len(options) == 1 else [None]
        for value in alternatives:
            chosen = [(options[0][0], value)] if value is not None else options
            found.append(" ".join(f"{flag} {value}".strip() for flag, value in chosen))
    return found


@pytest.mark.parametrize("name", CASES)
def test_the_options_of_a_message_are_remedies(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    places = (written(case.gold, tmp_path / "gold"), written(case.pred, tmp_path / "pred"))
    problems = problems_of(case, places)
    assert problems and case.finding in problems[0].found, problems
    named = dict.fromkeys(way for problem in problems for way in ways(problem.remedy, case.values))
    assert len(named) >= case.options, problems
    for way in named:
        assert not problems_of(case, places, way), (way, problems[0], problems_of(case, places, way))


TOLD_OTHERWISE = {
    "--review": "`nereval doctor` names it, which reads no corpus",
    "--mend": "so does it this one",
    "--keys": "files of no known shape have keys of their own, which tests of records name",
    "--unplaced": "lines of BioCreative's mentions whose sentence gold has not, which their tests follow",
    "--types": "`nereval types` names it in the mapping that it writes",
    "--type": "a note names it, on tags that were read",
    **dict.fromkeys(("--criteria", "--merge", "--leave-out"), "Python gives no list of names, and no file is read"),
}
"""Options in strings of these folders that are not remedies of a reading, and why."""


OF_VERBS = ("load_options.py", "verb_options.py", "scoring.py", "app.py")
"""Modules whose messages are on options of scoring and of verbs, or which start a command."""


def named_options() -> Iterator[str]:
    """Yield each option that a string of the readers, of pairing or of loading names."""
    for folder in ("readers", "pairing", "api"):
        for path in sorted((ROOT / "nereval_core" / folder).rglob("*.py")):
            if path.name in OF_VERBS:
                continue
            tree = ast.parse(path.read_text(encoding="utf-8"))
            others = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
            calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
            keywords = [keyword for call in calls for keyword in call.keywords]
            others |= {id(keyword.value) for keyword in keywords if keyword.arg in ("flag", "help", "help_of_one")}
            offers = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "Offer"]
            others |= {id(node) for offer in offers for node in ast.walk(offer)}
            strings = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in others)
            for node in strings:
                if isinstance(node.value, str):
                    yield from re.findall(r"(?<!\S)--[a-z][a-z-]+", node.value)


def test_every_option_that_a_message_names_is_followed(tmp_path: Path) -> None:
    followed = set()
    for number, case in enumerate(CASES.values()):
        places = (written(case.gold, tmp_path / f"gold{number}"), written(case.pred, tmp_path / f"pred{number}"))
        for problem in problems_of(case, places):
            followed |= {re.sub("--(?:gold|pred)-", "--", flag) for flag, _ in OPTION.findall(problem.remedy)}
    named = {re.sub("--(?:gold|pred)-", "--", option) for option in named_options()}
    assert named - followed == TOLD_OTHERWISE.keys()
