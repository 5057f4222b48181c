"""The verbs `score`, `to_dict` and `type_suggestions` of the library: a prediction against gold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Unpack

from nereval_core.api.inputs import AnyAnnotations, Texts, load_inputs, scoring_options
from nereval_core.api.scoring import PythonWarnings, score_loaded
from nereval_core.pairing import Pairing
from nereval_core.pairing.type_suggestions import Suggestion, suggest_types
from nereval_core.report.json_results import results
from nereval_core.report.scored_system import ScoredSystem
from nereval_core.scoring import Counting, Scores
from nereval_core.scoring.criteria import SCHEMAS, Criterion


def score(
    gold: AnyAnnotations,
    pred: AnyAnnotations,
    *,
    criteria: Iterable[str | Criterion] = SCHEMAS,
    merge: Mapping[str, str] | Iterable[str] = (),
    leave_out: Iterable[str] = (),
    counting: Counting = "one-to-one",
    format: str = "auto",
    core_type: str | None = None,
    texts: Texts | None = None,
    gold_scheme: str | None = None,
    pred_scheme: str | None = None,
    progress: Callable[[int, int], None] | None = None,
    **pairing: Unpack[Pairing],
) -> ScoredSystem:
    """Score a prediction against gold, each a path, a `Reading`, a layer, or Python objects.

    Objects are lists with a list for each document, of dicts, of tuples or of tags: see `read_objects`, which takes
    `texts` too. Where gold has texts, a prediction without texts takes these. `criteria` are names, as `nereval
    criteria` lists them, or criteria of your own. `merge` maps a type to the name it is scored under, or lists merges
    as `protein,DNA=macromolecule`. `counting="each-side"` counts each side for itself, without an alignment.
    `progress` is called with gold spans done and their total. `core_type` is the brat type or attribute of core terms,
    as in `read`. `gold_scheme` and `pred_scheme` are tag schemes (None: the one that fits, gold's first). `pairing`
    are the options of `Pairing`.

    A prediction that is identical to gold in content, or has types that gold does not have, gives a warning: see
    `nereval_core.pairing`.

    Raises:
        FormatError: unreadable input, input that cannot be paired, an unknown criterion or one that needs what gold
            does not have, a bad merge.
    """
    options = scoring_options(criteria, merge, leave_out, counting)
    loaded = load_inputs(
        gold,
        {"": pred},
        format=format,
        core_type=core_type,
        texts=texts,
        gold_scheme=gold_scheme,
        pred_scheme=pred_scheme,
        pairing=pairing,
    )
    (scores,) = score_loaded(loaded, options, PythonWarnings(progress)).values()
    return ScoredSystem.of(scores)


def to_dict(scores: Scores, *, documents: bool = False, confusion: bool = False) -> dict[str, Any]:
    """Return the object of `nereval score --json` for one system, see docs/results.schema.json.

    With `documents` it holds the counts of each document too, as with `--by document`; with `confusion` those of each
    gold type with each predicted type, as with `--by confusion`.
    """
    gold, pred = scores.read
    return results(gold, [(pred, scores)], documents=documents, confusion=confusion)


def type_suggestions(
    gold: AnyAnnotations,
    pred: AnyAnnotations,
    *,
    format: str = "auto",
    **pairing: Unpack[Pairing],
) -> tuple[Suggestion, ...]:
    """Suggest a type of gold for each type of a prediction that gold does not have, with the reason.

    Nothing is applied: `mapped` and `read(…, types=…)` do that.

    Raises:
        FormatError: as `score`.
    """
    corpus = load_inputs(gold, {"": pred}, format=format, pairing=pairing).corpus
    return suggest_types(corpus.gold, corpus.systems)
