"""Nothing that looks like annotations is left unread and unsaid: rivals beside the annotations of every format."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest

from nereval_core.problems import FormatError
from nereval_core.readers import ReadOptions, Source, layers, read, readers
from tests.support.record_files import RECORDS
from tests.support.rivals import CHANGES, RIVAL
from tests.support.samples import SAMPLES, raw
from tests.support.unread_annotations import Candidate, candidates, unsaid_annotations

ROUNDS = 12
WITHOUT_ROOM = {
    "bc2gm": "lines of one kind",
    "bioc": "annotations of passages are all read",
    "bionlp": "lines other than T lines are all read or counted",
    "bracketed": "marks are all read",
    "brat": "lines of one kind",
    "cas": "layers are named and chosen",
    "docbin": "packed; span groups are layers",
    "inline": "elements are all read or counted",
    "nif": "strings are all read or counted",
    "tei": "groups of spans are layers",
    "offsetxml": "elements are all read or counted; annotation sets are layers",
    "parquet": "its columns are declared",
    "pubtator": "lines of one kind",
    "ragged": "one column of names",
    "slashtags": "one tag a word",
    "spanlines": "lines of one kind",
    "tagrows": "a row of words and a row of tags",
    "webanno": "layers are declared and named",
}
"""Formats without a place for a rival."""
TEXT_BESIDE = ("Argilla 1", "brat's JSON", "GATE's JSON", "bdocjs", "Flair", "SpERT", "OneIE", "CLUENER", "CMEEE")
"""JSON records whose texts stand under the usual keys, beside which the oracle looks."""
BLIND = (
    *("Label Studio, CSV", "entities in a cell"),
    *("CoNLL-U with tags", "CoNLL-U with brackets", "Label Studio", "TSV with its texts beside"),
    *(name for name in RECORDS if name not in TEXT_BESIDE),
)
"""Samples whose rivals the oracle does not see: in cells, in MISC, or where texts stand deeper or under other keys."""
CASES = [name for name, (format, _, _) in SAMPLES.items() if format in CHANGES]


def unsaid(files: Mapping[str, bytes], format: str, layer: str | None) -> list[Candidate] | None:
    """Return what is unread and unsaid of files, None where they are refused."""
    source = Source.of_uploads(files.items())
    try:
        names = layers(source, format=format) or (layer,)
        readings = [read(source, format=format, options=ReadOptions(layer=name)) for name in names]
    except FormatError:
        return None
    types = {kind for reading in readings for kind in reading.layer.types}
    said = [note for reading in readings for note in reading.notes]
    return [candidate for content in files.values() for candidate in unsaid_annotations(content, types, said)]


@pytest.mark.parametrize("name", CASES)
def test_a_rival_is_read_or_said_or_refused(name: str) -> None:
    format, files, layer = SAMPLES[name]
    target = list(files)[-1]
    drawn = random.Random(name)
    changes = 0
    for change in CHANGES[format]:
        for _ in range(ROUNDS):
            content = change(raw(files[target]).decode(), drawn)
            changes += any(RIVAL in str(one.types) for one in candidates(content.encode()))
            changed = {**{path: raw(one) for path, one in files.items()}, target: content.encode()}
            for choice in ("auto", format):
                assert not unsaid(changed, choice, layer), content[:400]
    assert changes or name in BLIND, "the oracle sees no rival"


@pytest.mark.parametrize("name", SAMPLES)
def test_the_oracle_is_content_with_samples(name: str) -> None:
    format, files, layer = SAMPLES[name]
    assert not unsaid({path: raw(one) for path, one in files.items()}, format, layer)


def test_every_format_has_rivals_or_says_why_not() -> None:
    assert CHANGES.keys() | WITHOUT_ROOM.keys() == readers().keys()
    assert not CHANGES.keys() & WITHOUT_ROOM.keys()
