"""Types, systems, documents, metadata keys and concept ids that are called like columns of our tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nereval_core.readers import Source
from nereval_core.scoring.count_tables import free_name
from pages.shared.components.navigation import pages
from pages.shared.components.tables import streamlit_headings
from pages.shared.data import caches
from pages.shared.data.loading import Loaded, load
from pages.shared.view import View
from pages.shared.view.confusion_layout import confusion_table
from tests.support.commands import Cli
from tests.support.pages import opened

NAMES = (
    *[
        "ACT",
        "COR",
        "F1",
        "INC",
        "MIS",
        "P",
        "PAR",
        "POS",
        "R",
        "SPU",
        "_index",
        "_pos:0",
        "all",
        "annotator",
        "average",
        "baseline",
        "boundary",
        "by",
        "class",
        "column",
        "convention",
        "count",
        "criterion",
        "cutoff",
        "date",
        "decision",
        "doc",
        "document",
        "documents",
        "end",
        "ends",
        "evaluation",
        "f1",
        "figure",
        "fold",
        "form",
        "from",
        "gain",
        "gold",
        "gold_COR",
        "gold_id",
        "group",
        "hidden",
        "high",
        "id",
        "index",
        "key",
        "kind",
        "label",
        "level_0",
        "links",
        "low",
        "meta",
        "n",
        "name",
        "number",
        "one",
        "other",
        "over",
        "p",
        "pattern",
        "period",
        "precision",
        "pred",
        "pred_id",
        "predicted",
        "rank",
        "reason",
        "recall",
        "record",
        "records",
        "row",
        "run",
        "scope",
        "score",
        "share",
        "side",
        "signature",
        "slice",
        "source",
        "span",
        "spans",
        "start",
        "state",
        "stays",
        "support",
        "system",
        "systems",
        "tau",
        "text",
        "total",
        "type",
        "value",
        "variant",
        "weight",
    ],
    "missed (MIS)",
    "spurious (SPU)",
)
SYSTEMS = ("_index", "annotator")
VIEWS: dict[str, tuple[dict[str, Any], ...]] = {
    "Confusion": ({}, {"share": "counts", "layout": ("by-confusion",)}),
    "Inspect": ({}, {"inspect_tab": "by-class"}),
    "Criteria": ({}, {"criteria_tab": "two-criteria"}),
    "Overview": ({}, {"overview_tab": "by-slice", "slice_by": "period"}),
    "Annotators": ({}, {"annotators_tab": "figures", "figure": "kappa"}, {"annotators_tab": "consistency"}),
    "Linking": ({}, {"linking_tab": "ids"}),
}
"""The fields of the view with which a page is drawn, where it is drawn in more than one way."""
VERBS = {
    "score": ("type,document", "csv json parquet excel markdown latex html"),
    "compare --resamples 100": ("type,span", "csv parquet"),
    "agreement --resamples 100": ("type,document", "csv parquet"),
    "sensitivity": ("", "csv parquet"),
    "errors": ("type", "csv parquet"),
    "slices --resamples 100": ("period", "csv parquet"),
    "link": ("document,confusion", "csv parquet"),
    "index": ("document,id", "csv parquet"),
}
"""By what each verb breaks its tables down, and the files it writes."""


def written(folder: Path, layer: str, shift: int) -> Path:
    """Write a layer: a document a name, with spans of its type, some of another, some missed, with links."""
    lines = []
    for place, name in enumerate(NAMES):
        other = NAMES[(place + shift) % len(NAMES)]
        spans = [
            {"start": 0, "end": 7, "label": name if place % 3 else other, "links": [name]},
            {"start": 8, "end": 18 if shift and place % 2 else 13, "label": name, "links": [other]},
        ]
        kept = spans[place % 7 == 0 : 1 + (not shift or place % 5 > 0)]
        meta = {name: other, "date": "1890-01-01"}
        lines.append(json.dumps({"id": name, "text": "Aspirin helps much.", "meta": meta, "spans": kept}))
    path = folder / f"{layer}.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("names")
    return {name: written(folder, f"layer{shift}", shift) for shift, name in enumerate(("", *SYSTEMS))}


@pytest.fixture(scope="module")
def loaded(files: dict[str, Path]) -> Loaded:
    sources = {name: Source.of_path(path) for name, path in files.items()}
    return load("names", sources.pop(""), sources)


@pytest.mark.parametrize(
    ("page", "fields"), [(page, fields) for page in pages() for fields in VIEWS.get(page, ({},))], ids=str
)
def test_every_page(loaded: Loaded, page: str, fields: dict[str, Any]) -> None:
    opened(page, View(corpus=caches.shelf().put(loaded), system=SYSTEMS[0], beside=SYSTEMS[1], **fields))


@pytest.mark.parametrize("verb", VERBS)
def test_every_table_of_the_command_line(command: Cli, files: dict[str, Path], verb: str) -> None:
    by, kinds = VERBS[verb]
    given = [str(path) if not name else f"{name}={path}" for name, path in files.items()]
    asked = [*(("--by", by) if by else ()), *(word for kind in kinds.split() for word in (f"--{kind}", f"out.{kind}"))]
    status, _, error = command(*verb.split(), *given, *asked)
    assert status == 0, error
    assert all(Path(f"out.{kind}").stat().st_size for kind in kinds.split())


@pytest.mark.parametrize("name", ["gold", "_index", "_pos:0"])
def test_headings_of_confusion_are_unique(name: str) -> None:
    types = [name, f"({name})"]
    table = confusion_table({(name, name): 1, (name, f"({name})"): 2}, types, ())
    assert table.columns[:2] == tuple(types)
    assert table.counts.columns.is_unique and table.counts.index.is_unique
    assert table.counts.iat[0, 1] == 2
    named = table.counts.reset_index(names=free_name("gold", list(table.counts.columns)))
    assert named.columns.is_unique and named.shape == (3, 4)


def test_headings_say_the_names() -> None:
    assert streamlit_headings(["a", "_index", "(_index)", "_indexes", "_pos:12"]) == [
        "a",
        "((_index))",
        "(_index)",
        "_indexes",
        "(_pos:12)",
    ]
