"""The library's verb for agreement."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, Unpack

from nereval_core.analysis.agreement import Agreement, measure_agreement, measure_pairwise_agreement, score_pair
from nereval_core.analysis.agreement.coefficients import NONE_IN_COMMON, Pair
from nereval_core.analysis.agreement.kappa_and_alpha import annotator_pairs
from nereval_core.analysis.resampling_units import resampling_units
from nereval_core.api.inputs import (
    AnyAnnotations,
    Texts,
    check_named,
    gold_reading,
    load_inputs,
    prediction_reading,
    scoring_options,
)
from nereval_core.api.load import NONE_SHARED, Loaded, Readings, pair_readings
from nereval_core.api.load_options import LoadOptions, ResamplingOptions
from nereval_core.api.scoring import (
    Listener,
    PythonWarnings,
    applicable_criteria,
    check_pairing,
    tell_greedy,
    tell_notices,
    tell_unused,
)
from nereval_core.api.verb_options import AgreementOptions
from nereval_core.corpus import Layer
from nereval_core.pairing import Pairing
from nereval_core.problems import FormatError, Problem, Steps, counted, one_of, quoted
from nereval_core.readers import Reading
from nereval_core.scoring import Scores, Settings
from nereval_core.scoring.criteria import Criterion

NO_DOCUMENT = Problem("annotators", None, "no document in any layer", "give those of the same texts")
NO_DOCUMENT_IN_COMMON = Problem("annotators", None, "no two have a document in common", "name those of the same texts")
DocumentsCompared = Literal["same", "shared", "pairwise"]


def agreement(
    annotators: Mapping[str, AnyAnnotations],
    *,
    systems: Mapping[str, AnyAnnotations] | None = None,
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
    check_pairing(pairing)
    options = AgreementOptions(
        gamma=gamma,
        resampling=ResamplingOptions(resamples=resamples, seed=seed, by=resample_by),
        scoring=scoring_options(criteria, merge, leave_out),
    )
    check_named(annotators, "annotators")
    if len(annotators) < 2:
        raise FormatError.single("annotators", None, "fewer than two", "give at least two by name")
    systems = systems or {}
    if both := sorted(systems.keys() & annotators.keys()):
        finding = f"{quoted(both[0])} is an annotator and a system"
        raise FormatError.single("systems", None, finding, "call each by a name of its own")
    (first, first_input), *others = annotators.items()
    others += systems.items()
    listener = PythonWarnings()
    if documents == "same":
        loaded = load_inputs(
            first_input, dict(others), format=format, core_type=core_type, texts=texts, pairing=pairing
        )
        return run(options, loaded, first, tuple(systems), listener)
    readings = {first: gold_reading(first_input, format=format, core_type=core_type, texts=texts)}
    for name, other in others:
        readings[name] = prediction_reading(other, readings[first], format=format, core_type=core_type)
    common = LoadOptions(common=True, **pairing)
    if documents == "pairwise":
        pairs = pair_annotators(readings, common, systems=len(systems))
        return run_pairwise(options, pairs, tuple(annotators), tuple(systems), listener)
    gold = readings.pop(first)
    shared = _on_common_documents(gold, readings, common)
    if shared is None:
        raise FormatError([NO_DOCUMENT_IN_COMMON])
    return run(options, shared, first, tuple(systems), listener)


def run(options: AgreementOptions, loaded: Loaded, first: str, systems: Sequence[str], listener: Listener) -> Agreement:
    """Measure the agreement of annotators over the same documents; the layer of the `first` was loaded as gold.

    Raises:
        FormatError: no document, a criterion that no annotator can be gold of, or what the documents cannot be
            resampled by.
    """
    if not len(loaded.corpus.documents):
        raise FormatError([NO_DOCUMENT])
    layers = annotator_layers(first, loaded)
    annotators = {name: layer for name, layer in layers.items() if name not in systems}
    _tell_of_annotators(annotators, listener)
    tell_notices(layers[first], {name: layers[name] for name in systems}, listener, reference=first)
    settings = _settings_for(options, tuple(annotators.values()), loaded.types, listener)
    agreement = measure_agreement(
        annotators,
        settings,
        plan=options.resampling.plan,
        resampled=resampling_units(loaded.corpus.documents, options.resampling.by),
        systems={name: layers[name] for name in systems},
        gamma=options.gamma,
    )
    return _told_of_greedy(agreement, listener)


def run_pairwise(
    options: AgreementOptions,
    pairs: Mapping[Pair, Loaded],
    annotators: Sequence[str],
    systems: Sequence[str],
    listener: Listener,
) -> Agreement:
    """Measure the agreement of each pair of annotators on the documents that both have; `pairs` are numbered so.

    Systems are numbered after the annotators.

    Raises:
        FormatError: no two annotators have a document in common, or as `run`.
    """
    names = (*annotators, *systems)
    for pair in compared_pairs(len(names), len(systems)):
        if pair not in pairs:
            listener.note(f"{' and '.join(names[number] for number in pair)}: {NONE_IN_COMMON}")
    if not any(pair[1] < len(annotators) for pair in pairs):
        raise FormatError([NO_DOCUMENT_IN_COMMON])
    layers = {}
    for pair, loaded in pairs.items():
        first, second = (names[number] for number in pair)
        documents = loaded.corpus.documents
        listener.read(f"{first} and {second}: {counted(len(documents), documents.unit)} in common")
        tell_notices(loaded.corpus.gold, loaded.named_layers(), listener, reference=first)
        layers[pair] = annotator_layers(first, loaded)
    of_annotators = [layer for each in layers.values() for name, layer in each.items() if name in annotators]
    types = {kind for layer in of_annotators for kind in layer.types}
    settings = _settings_for(options, of_annotators, types, listener)
    parts = {
        pair: measure_agreement(
            layers[pair],
            settings,
            plan=options.resampling.plan,
            resampled=resampling_units(loaded.corpus.documents, options.resampling.by),
            gamma=options.gamma,
        )
        for pair, loaded in pairs.items()
        if pair[1] < len(annotators)
    }
    scores = score_systems(layers, annotators, systems, settings)
    return _told_of_greedy(measure_pairwise_agreement(annotators, parts, scores), listener)


def _settings_for(
    options: AgreementOptions, annotators: Sequence[Layer], types: Collection[str], listener: Listener
) -> Settings:
    """Return the settings with the criteria that can be applied with at least one of the annotators as gold.

    Raises:
        FormatError: a criterion given by name cannot be applied with any annotator as gold.
    """
    settings = options.scoring.settings
    tell_unused(settings, types, listener)
    criteria: list[Criterion] = []
    for criterion in settings.criteria:
        gold = next((layer for layer in annotators if criterion.lacks(layer) is None), annotators[0])
        criteria += applicable_criteria(options.scoring, (criterion,), gold, listener)
    return replace(settings, criteria=tuple(criteria))


def _tell_of_annotators(annotators: Mapping[str, Layer], listener: Listener) -> None:
    """Warn of annotators that are equal to earlier ones, or differ from them in their types."""
    names = list(annotators)
    for number, name in enumerate(names):
        later = {other: annotators[other] for other in names[number + 1 :]}
        tell_notices(annotators[name], later, listener, reference=name)


def _told_of_greedy(agreement: Agreement, listener: Listener) -> Agreement:
    """Return an agreement, once it is told which documents were aligned greedily."""
    for pair, scores in agreement.scores.items():
        greedy = sorted({name for each in scores.values() for name in each.greedy})
        tell_greedy(" and ".join(agreement.annotators[number] for number in pair), greedy, listener)
    for name, documents in (agreement.ceiling.greedy if agreement.ceiling else {}).items():
        tell_greedy(f"{name} and annotators", documents, listener)
    return agreement


def score_systems(
    layers: Mapping[Pair, Mapping[str, Layer]], annotators: Sequence[str], systems: Sequence[str], settings: Settings
) -> dict[str, dict[int, dict[str, Scores]]]:
    """Return the scores of each system by annotator and criterion; `layers` are those of pairs, systems numbered last.

    An annotator with whom a system has no document in common is left out.
    """
    scores: dict[str, dict[int, dict[str, Scores]]] = {name: {} for name in systems}
    for (annotator, system), both in layers.items():
        if system >= len(annotators):
            gold, pred = both.values()
            scores[systems[system - len(annotators)]][annotator] = score_pair(gold, pred, settings)
    return scores


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
    pairs: dict[Pair, Loaded] = {}
    steps = Steps()
    for pair in compared_pairs(len(names), systems):
        first, second = (names[number] for number in pair)
        own_options = others if others is not None and pair[0] else options
        with steps.collected():
            loaded = _on_common_documents(readings[first], {second: readings[second]}, own_options)
            if loaded is not None:
                pairs[pair] = loaded
    steps.refuse()
    return pairs


def compared_pairs(layers: int, systems: int) -> tuple[Pair, ...]:
    """Return the pairs of layers, of which the last are systems, that have an annotator."""
    return tuple(pair for pair in annotator_pairs(layers) if pair[0] < layers - systems)


def annotator_layers(first: str, loaded: Loaded) -> dict[str, Layer]:
    """Return the layers of all annotators by name, gold by the name of the first."""
    layers = {first: loaded.corpus.gold, **loaded.named_layers()}
    return {name: layer.renamed(name) for name, layer in layers.items()}


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
