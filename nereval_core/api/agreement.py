"""The library's verb for agreement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, Unpack

from nereval_core.analysis.agreement import Agreement, measure_agreement, measure_pairwise_agreement, score_pair
from nereval_core.analysis.agreement.coefficients import Pair
from nereval_core.analysis.agreement.kappa_and_alpha import annotator_pairs
from nereval_core.analysis.resampling_units import ResamplingPlan, ResamplingUnits, resampling_units
from nereval_core.api.inputs import Given, Texts, gold_reading, prediction_reading, settings_of
from nereval_core.api.load import NONE_SHARED, Loaded, Readings, pair_readings
from nereval_core.api.load_options import LoadOptions
from nereval_core.corpus import Layer
from nereval_core.pairing import Pairing, pair
from nereval_core.pairing.notices import notices_of
from nereval_core.problems import FormatError, Problem, one_of, quoted
from nereval_core.readers import Reading
from nereval_core.readers.python_objects import levelled
from nereval_core.scoring import Scores, Settings
from nereval_core.scoring.criteria import Criterion

DocumentsCompared = Literal["same", "shared", "pairwise"]


def agreement(
    annotators: Mapping[str, Given],
    *,
    systems: Mapping[str, Given] | None = None,
    criteria: str | Iterable[str | Criterion] = "strict",
    resamples: int = 10_000,
    seed: int = 0,
    resample_by: str = "",
    documents: DocumentsCompared = "same",
    gamma: bool = False,
    merge: Mapping[str, str] | Iterable[str] = (),
    leave_out: Iterable[str] = (),
    format: str = "auto",
    core_type: str | None = None,
    texts: Texts | None = None,
    **pairing: Unpack[Pairing],
) -> Agreement:
    """Measure the agreement of annotators by name, each a path, a `Reading`, a layer, or Python objects.

    The texts are those of the first. F1 is under the criteria, kappa and alpha are on tokens, unitizing alpha (2004)
    is on characters: see `nereval_core.analysis.agreement`. `resample_by` is the unit of resampling: `document`,
    `sentence`, a metadata key or `runs:20`, by default each document as read. `documents` are the "same" from all, or
    "shared": those that all have, or "pairwise": those that each pair has in common. An annotator without a document
    did not see it; alphas count it as missing. `systems` by name are compared with the annotators, in `ceiling` of the
    result (`nereval_core.analysis.agreement.human_ceiling`). `gamma=True` adds gamma, which takes many times as long
    (`nereval_core.analysis.agreement.gamma`). The other options are those of `score`.

    Raises:
        FormatError: as `score`; fewer than two annotators; a system called as an annotator; what the documents
            cannot be resampled by; no document in common, or documents without ids where these are looked for.
    """
    one_of("documents", documents, DocumentsCompared)
    if len(annotators) < 2:
        raise FormatError.single("annotators", None, "fewer than two", "give at least two by name")
    mine = dict(systems or {})
    if both := sorted(mine.keys() & annotators.keys()):
        found = f"{quoted(both[0])} is an annotator and a system"
        raise FormatError.single("systems", None, found, "call each by a name of its own")
    settings = settings_of(criteria, merge, leave_out)
    plan = ResamplingPlan(resamples=resamples, seed=seed)
    (first, given), *others = annotators.items()
    rest = [*others, *mine.items()]
    ours = gold_reading(given, format=format, core_type=core_type, texts=texts)

    def agreed(layers: Mapping[str, Layer]) -> Agreement:
        units = resampling_units(next(iter(layers.values())).documents, resample_by)
        return _warned(measure_with_systems(layers, tuple(mine), settings, plan, units, gamma=gamma))

    if documents == "same":
        return agreed(_layers_of_all(first, ours, dict(rest), format, core_type, pairing))
    readings = {first: ours}
    readings |= {name: prediction_reading(other, ours, format=format, core_type=core_type) for name, other in rest}
    options = LoadOptions(common=True, **pairing)
    nothing = FormatError.single("annotators", None, "no document in common", "name those of the same texts")
    if documents == "shared":
        together = _on_common_documents(ours, {name: readings[name] for name, _ in rest}, options)
        if together is None:
            raise nothing
        return agreed(annotator_layers(first, together))
    names = tuple(annotators)
    pairs = pair_annotators(readings, options, systems=len(mine))
    layers = {pair: annotator_layers((*names, *mine)[pair[0]], loaded) for pair, loaded in pairs.items()}
    parts = {pair: agreed(both) for pair, both in layers.items() if pair[1] < len(names)}
    if not parts:
        raise nothing
    return measure_pairwise_agreement(names, parts, score_systems(layers, names, tuple(mine), settings))


def measure_with_systems(
    layers: Mapping[str, Layer],
    systems: Sequence[str],
    settings: Settings,
    plan: ResamplingPlan,
    units: ResamplingUnits,
    *,
    gamma: bool = False,
) -> Agreement:
    """Return the agreement of the layers that are not systems, with the systems held against them."""
    annotators = {name: layer for name, layer in layers.items() if name not in systems}
    mine = {name: layers[name] for name in systems if name in layers}
    return measure_agreement(annotators, settings, plan=plan, resampled=units, systems=mine, gamma=gamma)


def score_systems(
    layers: Mapping[Pair, Mapping[str, Layer]], annotators: Sequence[str], systems: Sequence[str], settings: Settings
) -> dict[str, dict[int, dict[str, Scores]]]:
    """Return the scores of each system by annotator and criterion; `layers` are those of pairs, systems numbered last.

    An annotator with whom a system has no document in common is left out.
    """
    found: dict[str, dict[int, dict[str, Scores]]] = {name: {} for name in systems}
    for (one, other), both in layers.items():
        if other >= len(annotators):
            gold, pred = both.values()
            found[systems[other - len(annotators)]][one] = score_pair(gold, pred, settings)
    return found


def pair_annotators(
    readings: Mapping[str, Reading], options: LoadOptions, others: LoadOptions | None = None, *, systems: int = 0
) -> dict[Pair, Loaded]:
    """Return each two annotators on the documents that both have; pairs that have none in common are left out.

    The last `systems` are not annotators and have no pairs among themselves. The earlier of two is gold. `others` are
    the options of pairs without the first annotator, by default `options`.

    Raises:
        FormatError: with the problems of all pairs, each once.
    """
    names = tuple(readings)
    found: dict[Pair, Loaded] = {}
    problems: list[Problem] = []
    for pair_of in compared_pairs(len(names), systems):
        one, other = (names[number] for number in pair_of)
        try:
            chosen = others if others is not None and pair_of[0] else options
            loaded = _on_common_documents(readings[one], {other: readings[other]}, chosen)
            if loaded is not None:
                found[pair_of] = loaded
        except FormatError as error:
            problems += error.problems
    if problems:
        raise FormatError(dict.fromkeys(problems))
    return found


def compared_pairs(layers: int, systems: int) -> tuple[Pair, ...]:
    """Return the pairs of layers, of which the last are systems, that have an annotator."""
    return tuple(pair_of for pair_of in annotator_pairs(layers) if pair_of[0] < layers - systems)


def annotator_layers(first: str, loaded: Loaded) -> dict[str, Layer]:
    """Return the layers of all annotators by name, gold by the name of the first."""
    gold = loaded.corpus.gold.renamed(first)
    return {layer.name: layer for layer in (gold, *loaded.corpus.systems)}


def _on_common_documents(first: Reading, others: Mapping[str, Reading], options: LoadOptions) -> Loaded | None:
    """Return the annotators on the documents that all of them have, None where there are none.

    Raises:
        FormatError: documents without ids, and as `pair`.
    """
    try:
        return pair_readings(Readings(first, others), options)
    except FormatError as error:
        if all(problem.found == NONE_SHARED for problem in error.problems):
            return None
        raise


def _layers_of_all(
    first: str, ours: Reading, others: Mapping[str, Given], format: str, core_type: str | None, pairing: Pairing
) -> dict[str, Layer]:
    """Return the layers of annotators over the documents of the first.

    Raises:
        FormatError: with the problems of all annotators.
    """
    layers = {first: ours.layer}
    problems: list[Problem] = []
    sides = {}
    for name, other in others.items():
        try:
            sides[name] = prediction_reading(other, ours, format=format, core_type=core_type)
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
    return {name: replace(layer, name=name, documents=ours.documents) for name, layer in layers.items()}


def _warned(found: Agreement) -> Agreement:
    """Return an agreement, once annotators that are equal, or differ in their types, are warned of."""
    for pair_of, scores in found.scores.items():
        if pair_of[0] < pair_of[1] and scores:
            scored, (to, name) = next(iter(scores.values())), (found.annotators[number] for number in pair_of)
            settled = scored.settings.settled_types
            notices_of(*scored.read, reference=to, settled=settled).warn(f"{name} against {to}")
    return found
