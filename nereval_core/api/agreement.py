"""The library's verb for agreement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, Unpack

from nereval_core.analysis.agreement import Agreement, agree, agree_pairwise
from nereval_core.analysis.agreement.token_agreement import pairs_of
from nereval_core.analysis.resampling import Plan
from nereval_core.analysis.resampling_units import resampling_units
from nereval_core.api.load import Given, Texts, choose_criteria, gold_side, pred_side, warn_unlike
from nereval_core.pairing import Pairing, pair
from nereval_core.pairing.document_lists import restricted
from nereval_core.problems import FormatError, Problem, one_of
from nereval_core.readers import Reading
from nereval_core.readers.objects import levelled
from nereval_core.scoring import Settings
from nereval_core.scoring.criteria import Criterion, parse_merge

DocumentsCompared = Literal["same", "shared", "pairwise"]


def agreement(
    annotators: Mapping[str, Given],
    *,
    criteria: str | Iterable[str | Criterion] = "strict",
    resamples: int = 10_000,
    seed: int = 0,
    resample_by: str = "",
    documents: DocumentsCompared = "same",
    merge: Mapping[str, str] | Iterable[str] = (),
    leave_out: Iterable[str] = (),
    format: str = "auto",
    core_type: str | None = None,
    texts: Texts | None = None,
    **pairing: Unpack[Pairing],
) -> Agreement:
    """Return how far annotators by name agree, each a path, what `read` returned, a layer, or Python objects.

    The texts are those of the first. F1 is under the criteria, kappa and alpha are on tokens, unitizing alpha is on
    characters: see `nereval_core.analysis.agreement`. `resample_by` is what is resampled: `document`, `sentence`, a
    metadata key or `runs:20`, by default each document as read. `documents` are the "same" from all, or "shared": those
    that all have, or "pairwise": those that each two have in common. The other options are those of `score`.

    Raises:
        FormatError: as `score`; fewer than two annotators; what the documents cannot be resampled by; no document in
            common, or documents without ids where these are looked for.
    """
    one_of("documents", documents, DocumentsCompared)
    if len(annotators) < 2:
        raise FormatError.single("annotators", None, "fewer than two", "give at least two by name")
    merged = merge if isinstance(merge, Mapping) else parse_merge([merge] if isinstance(merge, str) else merge)
    left = [leave_out] if isinstance(leave_out, str) else leave_out
    settings = Settings(
        choose_criteria([criteria] if isinstance(criteria, str) else criteria),
        tuple(sorted(merged.items())),
        tuple(sorted(set(left))),
    )
    if documents != "same":
        (first, given), *rest = annotators.items()
        ours = gold_side(given, format=format, core_type=core_type, texts=texts)
        readings = {first: ours}
        readings |= {name: pred_side(other, ours, format=format, core_type=core_type) for name, other in rest}

        def compared(names: Sequence[str]) -> Agreement | None:
            alike = _restricted({name: readings[name] for name in names})
            if alike is None:
                return None
            return agreement(
                alike,
                criteria=settings.criteria,
                resamples=resamples,
                seed=seed,
                resample_by=resample_by,
                merge=merged,
                leave_out=left,
                **pairing,
            )

        nothing = FormatError.single("annotators", None, "no document in common", "name those of the same texts")
        names = tuple(annotators)
        if documents == "shared":
            if (found := compared(names)) is None:
                raise nothing
            return found
        pairs = pairs_of(len(names))
        parts = {pair: part for pair in pairs if (part := compared([names[number] for number in pair])) is not None}
        if not parts:
            raise nothing
        return agree_pairwise(names, parts)
    (first, given), *rest = annotators.items()
    ours = gold_side(given, format=format, core_type=core_type, texts=texts)
    layers = {first: ours.layer}
    problems: list[Problem] = []
    sides = {}
    for name, other in rest:
        try:
            sides[name] = pred_side(other, ours, format=format, core_type=core_type)
            # Objects without texts: documents are as long as the farthest span of any annotator asks for.
            ours = levelled(ours, sides[name])[0]
        except FormatError as error:
            problems += error.problems
    for name, side in sides.items():
        try:
            one, other_side = levelled(ours, side)
            layers[name] = pair(one, other_side, **pairing).layer
        except FormatError as error:
            problems += error.problems
    if problems:
        raise FormatError(dict.fromkeys(problems))
    named = {name: replace(layer, name=name, documents=ours.documents) for name, layer in layers.items()}
    units = resampling_units(ours.documents, resample_by)
    found = agree(named, settings, plan=Plan(resamples=resamples, seed=seed), resampled=units)
    for pair_of, scores in found.scores.items():
        if pair_of[0] < pair_of[1] and scores:
            scored, (to, name) = next(iter(scores.values())), (found.annotators[number] for number in pair_of)
            warn_unlike(scored.gold, scored.pred, f"{name} against {to}")
    return found


def _restricted(readings: Mapping[str, Reading]) -> Mapping[str, Reading] | None:
    """Return readings of the documents that all of them have, None where there are none.

    Raises:
        FormatError: documents without ids.
    """
    for name, reading in readings.items():
        if not reading.documents.named:
            found = "documents without ids, which cannot be looked for in all files"
            raise FormatError.single(name, None, found, "do not ask for those that all have")
    shared = set.intersection(*(set(reading.documents.ids) for reading in readings.values()))
    if not shared:
        return None
    return {name: restricted(reading, sorted(shared)) for name, reading in readings.items()}
