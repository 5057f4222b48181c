"""Scores as one JSON object."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from typing import Any

from nereval_core import __version__
from nereval_core.pairing import NamedLayer, notices_of
from nereval_core.report.score_tables import CONFUSION, ranked_confusions
from nereval_core.report.signature import signature
from nereval_core.scoring import Counts
from nereval_core.scoring.averages import Average
from nereval_core.scoring.criteria import Decision
from nereval_core.scoring.protocols import CountedScores, LayerSummary, SystemScores

SCHEMA = 1
"""The version of the shape of the objects; it changes where a key goes or means something else."""

GOLD_SIDE = (Decision.COR, Decision.INC, Decision.PAR, Decision.MIS)
PRED_SIDE = (Decision.COR, Decision.INC, Decision.PAR, Decision.SPU)
_COMMANDING = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""DEL, C1, line separators and the marks of direction: JSON may hold them as they are, which only strings do."""


def json_bytes(value: Mapping[str, Any]) -> bytes:
    """Return an object as a JSON file, one value a line.

    Escaped are characters that a terminal obeys or that turn the direction of writing, and bytes of file names that are
    not text.
    """
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    return _COMMANDING.sub(lambda char: f"\\u{ord(char[0]):04x}", text).encode(errors="backslashreplace")


def versions() -> dict[str, Any]:
    """Return what every object begins with: the version of the program, and that of docs/results.schema.json."""
    return {"nereval": __version__, "schema": SCHEMA}


def head(gold: LayerSummary) -> dict[str, Any]:
    """Return what an object about systems begins with: versions, and gold as it was read."""
    return {
        **versions(),
        "gold": {"sha256": gold.digest, "documents": len(gold.documents), "spans": len(gold)},
    }


def side(layer: LayerSummary) -> dict[str, Any]:
    """Return what an object says of a layer as it was read."""
    return {"name": layer.name, "sha256": layer.digest, "spans": len(layer)}


def system_side(gold: NamedLayer, layer: NamedLayer, *, settled: Collection[str] = ()) -> dict[str, Any]:
    """Return what an object says of a system's layer as it was read, and the notices on it."""
    notices = notices_of(gold, layer, settled=settled)
    return {
        "name": layer.name,
        "sha256": layer.digest,
        "spans": len(layer),
        "identical": bool(notices.identical),
        "notices": list(notices),
    }


def results(
    gold: LayerSummary, systems: SystemScores, *, documents: bool = False, confusion: bool = False
) -> dict[str, Any]:
    """Return what `--json` writes: all systems' scores, by type always, by document and by confusion on request.

    `gold` and the layers of `systems` are as read. Undefined ratios are None, and so are COR, INC and PAR if each side
    is counted for itself.
    """
    return {
        **head(gold),
        "systems": [
            {
                **system_side(gold, layer, settled=scores.settings.settled_types),
                "criteria": {
                    criterion.name: _criterion(scores, criterion.name, documents, confusion)
                    for criterion in scores.criteria
                },
            }
            for layer, scores in systems
        ],
    }


def _criterion(scores: CountedScores, name: str, documents: bool, confusion: bool) -> dict[str, Any]:
    each = scores.settings.counting == "each-side"
    macro = scores.macro_documents_by_type(name)
    result = {"signature": signature(scores, name)} | _counts(scores.counts(name), each)
    result["types"] = {
        kind: _sides(counts) | _ratios(counts) | {"macro_document": _averages(macro[kind])}
        for kind, counts in scores.by_type(name).items()
    }
    result["macro_type"] = _averages(scores.macro_types(name))
    result["macro_document"] = _averages(scores.macro_documents(name))
    if documents:
        result["documents"] = {key: _counts(counts, each) for key, counts in scores.by_document(name).items()}
    if confusion:
        keys = [column.key for column in CONFUSION]
        result["confusion"] = [dict(zip(keys, cell, strict=True)) for cell in ranked_confusions(scores, name)]
    return result


def _counts(counts: Counts, each_side: bool) -> dict[str, Any]:
    shared = {"COR": counts.cor, "INC": counts.inc, "PAR": counts.par}
    if each_side:
        shared = dict.fromkeys(shared)
    own = {"MIS": counts.mis, "SPU": counts.spu, "POS": counts.pos, "ACT": counts.act}
    return shared | own | _ratios(counts) | (_sides(counts) if each_side else {})


def _sides(counts: Counts) -> dict[str, Any]:
    return {
        "gold": {decision.name: counts.gold[decision] for decision in GOLD_SIDE},
        "pred": {decision.name: counts.pred[decision] for decision in PRED_SIDE},
    }


def _ratios(counts: Counts) -> dict[str, Any]:
    return {"precision": counts.precision, "recall": counts.recall, "f1": counts.f1, "ser": counts.ser}


def _averages(averages: Mapping[str, Average]) -> dict[str, Any]:
    return {
        name: {"value": average.value, "n": average.n, "undefined": average.undefined}
        for name, average in averages.items()
    }
