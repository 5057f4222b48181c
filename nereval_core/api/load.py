"""The verbs of the library, and what the command line and the app load a corpus with."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Unpack, cast

from nereval_core import readers, writers
from nereval_core.corpus import Corpus, Documents, Layer
from nereval_core.pairing import Missing, PairBy, Paired, Pairing, TokenText, pair
from nereval_core.pairing.document_lists import DocumentIds, restricted
from nereval_core.pairing.selection import Selection
from nereval_core.pairing.type_names import TypeNames, mapped
from nereval_core.pairing.type_suggestions import Suggestion, suggest_types, unlike_in_words
from nereval_core.problems import FormatError, Problem, one_of, quoted
from nereval_core.readers import Reading, ReadOptions, Source
from nereval_core.readers.objects import is_objects, levelled, read_objects
from nereval_core.readers.shared.label_list import LabelList, Labels, label_list
from nereval_core.readers.shared.layer_parts import BETWEEN
from nereval_core.readers.shared.offset_units import Offsets
from nereval_core.scoring import Counting, Scores, Settings, score_layers
from nereval_core.scoring.criteria import CRITERIA, SCHEMAS, Annotated, Criterion, parse_merge

if TYPE_CHECKING:
    from nereval_core.analysis.comparison import Comparison
    from nereval_core.conventions import Outcome

Single = Source | str | os.PathLike[str]
Input = Single | Sequence[Single]
"""A file, a folder, or several of them: the parts of one layer, each in a format of its own."""
NONE_SHARED = "no document is in all of the files"
"""What is found where documents that all have are asked for and there are none."""
TAKEN = (
    "give a path, several paths, what read() returned, a layer, or a list with a list of spans or tags for each "
    "document; a table or data set is saved first"
)
Objects = Sequence[Sequence[Any]]
Texts = Sequence[str] | Sequence[Sequence[str]]
Types = TypeNames | Mapping[str, str] | str | os.PathLike[str]
Given = Reading | Layer | Input | Objects
Repair = Literal["conlleval", "discard"]


@dataclass(frozen=True, kw_only=True)
class LoadOptions:
    """How gold and predictions are read and paired; see `ReadOptions` and `pair` for what the values mean.

    `core_type` must be of use in reading gold; a prediction in another format passes it over. `scheme` None means: the
    scheme found in gold, for the predictions too. `documents`, `gold_types` and `pred_types` are as for `Selection`;
    with `common` no more documents are scored than gold and all systems have by their ids.
    """

    gold_format: str = "auto"
    pred_format: str = "auto"
    gold_column: int | str | None = None
    pred_column: int | str | None = None
    scheme: str | None = None
    repair: Repair | None = None
    core_type: str | None = None
    missing: Missing = "error"
    token_text: TokenText = "own"
    pair_by: PairBy = "auto"
    align_text: bool = False
    offsets: Offsets | None = None
    columns: Mapping[str, int | str] | None = None
    labels: LabelList | Sequence[str] | None = None
    documents: DocumentIds | None = None
    common: bool = False
    gold_types: TypeNames | None = None
    pred_types: TypeNames | None = None

    @property
    def selection(self) -> Selection:
        """What of gold and predictions is scored."""
        return Selection(documents=self.documents, gold_types=self.gold_types, pred_types=self.pred_types)

    @property
    def pairing(self) -> Pairing:
        """The options of `pair`."""
        return {
            "missing": self.missing,
            "token_text": self.token_text,
            "pair_by": self.pair_by,
            "align_text": self.align_text,
        }


@dataclass(frozen=True, eq=False)
class Loaded:
    """A corpus with what was said while it was read.

    `gold` and `systems` (by name) are the readings: format and scheme taken, notes; a system's layer in there lies over
    its own documents, the one in the corpus over gold's. `marks` is what must stand in a system's signature.
    `problems` names the systems that could not be read or paired; they are not in the corpus. `lost` are a system's
    spans that have no place in gold's text and were left out in aligning.
    """

    corpus: Corpus
    gold: Reading
    systems: Mapping[str, Reading]
    marks: Mapping[str, tuple[str, ...]]
    problems: Mapping[str, tuple[Problem, ...]]
    lost: Mapping[str, tuple[Problem, ...]]


def load_corpus(
    gold: Input,
    systems: Mapping[str, Input],
    *,
    name: str | None = None,
    options: LoadOptions | None = None,
    partial: bool = False,
    progress: Callable[[str], Callable[[int, int], None] | None] | None = None,
) -> Loaded:
    """Read gold and the named systems, each from one place or from several, and bring all onto gold's documents.

    With `partial` a system that cannot be read or paired is left out and its problems returned with the rest.
    `progress` is asked, by the name of each input, for what is to be told the lines read and their total.

    Problems that an option lets pass are told together with those that stand behind them: what pairing would refuse
    once malformed tags are repaired, for instance.

    Raises:
        FormatError: with all problems of all files; under `partial` only where gold itself cannot be read.
    """
    given = options or LoadOptions()
    # Standard input can be opened once only.
    gold, systems = _opened_once(gold), {system: _opened_once(place) for system, place in systems.items()}

    def loading(some: Mapping[str, Input]) -> Callable[[LoadOptions], Loaded]:
        return lambda trial: _load(gold, some, name, trial, False, progress)

    try:
        found = _load(gold, systems, name, given, partial, progress)
    except FormatError as error:
        raise FormatError(_with_later_problems(error.problems, given, loading(systems))) from None
    failed = {
        system: _with_later_problems(problems, given, loading({system: systems[system]}))
        for system, problems in found.problems.items()
    }
    return replace(found, problems=failed)


TRIALS: Mapping[str, Mapping[str, Any]] = {
    "--repair conlleval": {"repair": "conlleval"},
    "--token-text gold": {"token_text": "gold"},
    "--align-text": {"align_text": True},
    "--missing empty": {"missing": "empty"},
    # To find what else is wrong it does not matter how a missing document is counted.
    "--documents shared": {"missing": "empty"},
}
"""The load options that stand for each option that a remedy names."""


def _opened_once(place: Input) -> Input:
    try:
        return opened(place)
    except FormatError:
        return place


def _with_later_problems(
    problems: Iterable[Problem], options: LoadOptions, load: Callable[[LoadOptions], Loaded]
) -> tuple[Problem, ...]:
    """Return problems, and those that loading meets once the options are set that let the former pass."""
    found = dict.fromkeys(problems)
    trial = options
    while True:
        named = {problem.option for problem in found if problem.option}
        wider = replace(trial, **{field: value for name in sorted(named) for field, value in TRIALS[name].items()})
        if wider == trial:
            return tuple(found)
        trial = wider
        try:
            load(trial)
        except FormatError as error:
            found |= dict.fromkeys(error.problems)


def _load(
    gold: Input,
    systems: Mapping[str, Input],
    name: str | None,
    options: LoadOptions,
    partial: bool,
    progress: Callable[[str], Callable[[int, int], None] | None] | None,
) -> Loaded:
    """Read gold and systems with these options and no others; see `load_corpus`."""
    options = over_common(gold, systems, options)
    watch = progress or (lambda _: None)
    problems: list[Problem] = []
    selection = options.selection
    whole: Reading | None = None
    ours: Reading | None = None
    label = name
    try:
        source = opened(gold)
        label = name or source.label
        read = readers.read(source, format=options.gold_format, options=_gold_options(options, watch(source.name)))
        _check_cores(read, options.core_type)
        whole, ours = read, selection.of_gold(read)
    except FormatError as error:
        problems.extend(error.problems)
    readings: dict[str, Reading] = {}
    every: dict[str, Reading] = {}
    paired: dict[str, Paired] = {}
    failed: dict[str, tuple[Problem, ...]] = {}
    for system, place in systems.items():
        try:
            source = opened(place)
            every[system] = readings[system] = readers.read(
                source, format=options.pred_format, options=_pred_options(system, options, whole, watch(source.name))
            )
            if ours is not None and whole is not None:
                readings[system] = selection.of_pred(readings[system], whole, pair_by=options.pair_by)
                paired[system] = selection.paired(ours, readings[system], whole, **options.pairing)
        except FormatError as error:
            readings.pop(system, None)
            failed[system] = error.problems
    if ours is None or whole is None:
        # Without gold's texts and scheme a prediction may look worse than it is: only what has a place is told, and
        # what concerns the input as a whole.
        names = {name for place in systems.values() for name in _names(place)}
        told = (problem for rows in failed.values() for problem in rows)
        problems.extend(problem for problem in told if problem.line is not None or problem.source in names)
    else:
        if not failed:
            problems.extend(selection.lacking([whole, *every.values()]))
        if not partial:
            problems.extend(problem for rows in failed.values() for problem in rows)
    if problems or ours is None or whole is None:
        raise FormatError(dict.fromkeys(problems))
    ours = replace(ours, notes=(*ours.notes, *selection.slips(whole, every.values())))
    layers = tuple(one.layer.renamed(system) for system, one in paired.items())
    return Loaded(
        Corpus(label or ours.source, ours.documents, ours.layer.renamed("gold"), layers),
        ours,
        {
            system: replace(reading, notes=(*reading.notes, *paired[system].notes))
            for system, reading in readings.items()
        },
        {system: one.marks for system, one in paired.items()},
        failed,
        {system: one.lost for system, one in paired.items() if one.lost},
    )


def over_common(gold: Input, systems: Mapping[str, Input], options: LoadOptions) -> LoadOptions:
    """Return options that list the documents which all have, where `common` asks for these.

    A system that cannot be read has no say.

    Raises:
        FormatError: gold cannot be read, or no document is in all.
    """
    if not options.common:
        return options
    source = opened(gold)
    whole = readers.read(source, format=options.gold_format, options=_gold_options(options, None))
    every = [whole.documents]
    for system, place in systems.items():
        with suppress(FormatError):
            prediction = _pred_options(system, options, whole, None)
            every.append(readers.read(opened(place), format=options.pred_format, options=prediction).documents)
    if not all(documents.named for documents in every):
        found = "documents without ids, which cannot be looked for in all files"
        raise FormatError.single(source.name, None, found, "do not ask for those that all have")
    shared = set.intersection(*(set(documents.ids) for documents in every))
    if options.documents is not None:
        shared &= set(options.documents.ids)
    if not shared:
        raise FormatError.single(source.name, None, NONE_SHARED, "score what fits together")
    listed = DocumentIds(tuple(name for name in whole.documents.ids if name in shared), "documents that all have")
    alike = options.documents is None and all(len(documents) == len(shared) for documents in every)
    return replace(options, common=False, documents=None if alike else listed)


def read(
    path: Input,
    *,
    format: str = "auto",
    name: str | None = None,
    column: int | str | None = None,
    scheme: str | None = None,
    repair: Repair | None = None,
    core_type: str | None = None,
    offsets: Offsets | None = None,
    layer: str | None = None,
    columns: Mapping[str, int | str] | None = None,
    labels: Labels | None = None,
    texts: Documents | None = None,
    documents: DocumentIds | Iterable[str] | None = None,
    types: Types | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Reading:
    """Read annotations: a file or folder in one of the formats, recognised by content where none is named.

    Several paths are the parts of one layer, each in a format of its own; no document may stand in two of them.
    `offsets` is what they count where a format leaves it open, `layer` which of several in a file is wanted, `columns`
    what those of a table of spans hold, by name or number from 1: `{"start": "von", "end": 3}`. `labels` are those in
    which tags that are numbers are places: a list, `O,B-PER,I-PER`, or a file.

    `core_type` is for brat: spans of that type, or with an attribute of that name, are the cores of the smallest spans
    around them. `documents` are the ids of those that are taken, `types` the names that types are called by instead: a
    mapping, or a file of lines `PER = person`. `progress` is called with the lines or files done and their total.

    Raises:
        FormatError: with every problem found.
    """
    if repair is not None:
        one_of("repair", repair, Repair)
    options = ReadOptions(
        name=name,
        column=column,
        scheme=scheme,
        repair=repair,
        core_type=_typed(core_type),
        offsets=offsets,
        layer=layer,
        columns=columns,
        labels=None if labels is None else label_list(labels),
        texts=texts,
        progress=progress,
    )
    reading = readers.read(opened(path), format=format, options=options)
    _check_cores(reading, core_type)
    if types is not None:
        reading = mapped(reading, types)
    return reading if documents is None else restricted(reading, documents)


def score(
    gold: Given,
    pred: Given,
    *,
    criteria: Iterable[str | Criterion] = SCHEMAS,
    merge: Mapping[str, str] | Iterable[str] = (),
    leave_out: Iterable[str] = (),
    counting: Counting = "one-to-one",
    format: str = "auto",
    core_type: str | None = None,
    texts: Texts | None = None,
    progress: Callable[[int, int], None] | None = None,
    **pairing: Unpack[Pairing],
) -> Scores:
    """Score a prediction against gold, each a path, what `read` returned, a layer, or Python objects.

    Objects are lists with a list for each document, of dicts, of tuples or of tags: see `read_objects`, which takes
    `texts` too. Where gold has texts, a prediction without is held against these. `merge` maps a type to the name it is
    scored under, or lists merges as `protein,DNA=macromolecule`; `progress` is called with gold spans done and their
    total. `core_type` is the brat type or attribute of core terms, as in `read`; `pairing` are the options of `pair`.

    Raises:
        FormatError: unreadable input, input that cannot be paired, an unknown criterion or one that needs what gold
            does not have, a bad merge.
    """
    one_of("counting", counting, Counting)
    settings = Settings(
        choose_criteria(_several(criteria)),
        tuple(sorted((merge if isinstance(merge, Mapping) else parse_merge(_several(merge))).items())),
        tuple(sorted(set(_several(leave_out)))),
        counting,
    )
    ours, theirs = sides(gold, pred, format=format, core_type=core_type, texts=texts)
    check_criteria(settings.criteria, ours.layer)
    paired = pair(ours, theirs, **pairing)
    found = score_layers(ours.layer, paired.layer, settings, marks=paired.marks, progress=progress)
    warn_unlike(found.gold, found.pred, theirs.source)
    return found


def warn_unlike(gold: Layer, pred: Layer, name: str) -> None:
    """Issue a `UserWarning` where two layers as scored have types, and none in common."""
    if said := unlike_in_words(gold, pred):
        warnings.warn(f"{name}: {said}", stacklevel=3)


def compare(
    gold: Given,
    systems: Mapping[str, Given],
    *,
    baseline: str | None = None,
    resamples: int = 10_000,
    seed: int = 0,
    resample_by: str = "",
    by_type: bool = False,
    criteria: Iterable[str | Criterion] = SCHEMAS,
    merge: Mapping[str, str] | Iterable[str] = (),
    leave_out: Iterable[str] = (),
    counting: Counting = "one-to-one",
    format: str = "auto",
    core_type: str | None = None,
    texts: Texts | None = None,
    **pairing: Unpack[Pairing],
) -> Comparison:
    """Compare systems by name: scores with intervals, differences to the baseline with p, ranks, all as tables.

    The baseline is the first by default. `resample_by` is what is resampled: `document`, `sentence`, a metadata key or
    `runs:20`, by default each document as read. The others of the options are those of `score`.

    Raises:
        FormatError: as `score`, with the problems of all systems; no system, or none called as the baseline is; what
            gold's documents cannot be resampled by.
    """
    # The comparison brings pandas and scipy with it.
    from nereval_core.analysis.comparison import compare_scores
    from nereval_core.analysis.resampling import Plan
    from nereval_core.analysis.resampling_units import resampling_units

    if not systems or (baseline is not None and baseline not in systems):
        found = "no system to compare" if not systems else f"no system is called {quoted(str(baseline))}"
        raise FormatError.single("compare", None, found, "give systems by name, the baseline among them")
    if not is_objects(gold):
        ours = _reading(cast(Reading | Layer | Input, gold), format, None, _typed(core_type))
        _check_cores(ours, core_type)
        gold, core_type = ours, None
    problems: list[Problem] = []
    scores: dict[str, Scores] = {}
    for name, pred in systems.items():
        try:
            scores[name] = score(
                gold,
                pred,
                criteria=criteria,
                merge=merge,
                leave_out=leave_out,
                counting=counting,
                format=format,
                core_type=core_type,
                texts=texts,
                **pairing,
            )
        except FormatError as error:
            problems += error.problems
    if problems:
        raise FormatError(dict.fromkeys(problems))
    units = resampling_units(next(iter(scores.values())).read[0].documents, resample_by)
    plan = Plan(resamples=resamples, seed=seed)
    return compare_scores(scores, baseline=baseline, plan=plan, units=units, by_type=by_type)


def type_suggestions(
    gold: Given,
    pred: Given,
    *,
    format: str = "auto",
    **pairing: Unpack[Pairing],
) -> tuple[Suggestion, ...]:
    """Suggest, for each type of a prediction that gold has not, which type of gold it is, and say why.

    Nothing is applied: `mapped` and `read(…, types=…)` do that.

    Raises:
        FormatError: as `score`.
    """
    ours, theirs = sides(gold, pred, format=format)
    return suggest_types(ours.layer, [pair(ours, theirs, **pairing).layer])


def reproduce(
    gold: Given,
    pred: Given,
    *,
    convention: str,
    options: Mapping[str, Any] | None = None,
    format: str = "auto",
    **pairing: Unpack[Pairing],
) -> Outcome:
    """Score as a published scorer does: its figures under its own names, and the records that make them.

    Files of the scorer's own format are read as it reads them; what `read` returned, layers and Python objects are
    scored by their spans. `options` are the scorer's own; a dash and an underscore in their names are alike.

    Raises:
        FormatError: no such convention or option, unreadable input, data the scorer cannot have.
    """
    # Conventions bring pandas with them, which scoring alone can do without.
    from nereval_core.conventions import Given, Sides, apply, apply_to_layers, named

    if isinstance(gold, (Reading, Layer)) or isinstance(pred, (Reading, Layer)) or is_objects(gold) or is_objects(pred):
        ours, theirs = sides(gold, pred, format=format)
        paired = pair(ours, theirs, **pairing)
        return apply_to_layers(named(convention), Sides(ours.layer, paired.layer, paired.marks), options or {})
    given = Given(
        gold=opened(cast(Input, gold)),
        pred=opened(cast(Input, pred)),
        gold_format=format,
        pred_format=format,
        pairing=pairing,
    )
    return apply(named(convention), given, options or {})


def write(
    layer: Layer | Reading, path: str | os.PathLike[str], *, format: str = "jsonl", lossy: bool = False
) -> tuple[str, ...]:
    """Write a layer with its documents, whole or not at all.

    What the format cannot hold is refused, or, if this may be `lossy`, left out; returns notes that count it.

    Raises:
        FormatError: unknown format, a place that cannot be written, or what the format cannot hold.
    """
    return writers.write(layer.layer if isinstance(layer, Reading) else layer, path, format=format, lossy=lossy)


def choose_criteria(
    chosen: Iterable[str | Criterion], *, composed: Sequence[Criterion] = (), source: str = "criteria"
) -> tuple[Criterion, ...]:
    """Return criteria by name, composed ones among them, each once and in the order given.

    Raises:
        FormatError: an unknown name, or one name for two criteria.
    """
    own = {criterion.name: criterion for criterion in composed}
    found: dict[str, Criterion] = {}
    problems: list[Problem] = []
    for item in chosen:
        criterion = item if isinstance(item, Criterion) else own.get(item) or CRITERIA.get(item)
        if criterion is None:
            known = ", ".join((*CRITERIA, *own))
            problems.append(Problem(source, None, f"no criterion {quoted(str(item))}", f"choose among {known}"))
        elif found.setdefault(criterion.name, criterion) != criterion:
            remedy = "give each its own name"
            problems.append(Problem(source, None, f"two criteria are called {quoted(criterion.name)}", remedy))
    if not found and not problems:
        problems.append(Problem(source, None, "no criterion chosen", f"choose among {', '.join(CRITERIA)}"))
    if problems:
        raise FormatError(problems)
    return tuple(found.values())


def check_criteria(criteria: Iterable[Criterion], gold: Annotated, *, source: str = "criteria") -> None:
    """Refuse criteria that need what no gold span has.

    Raises:
        FormatError: with every such criterion.
    """
    problems = [
        Problem(source, None, f"criterion {criterion.name} needs {need}, and gold has none", "leave it out or add them")
        for criterion in criteria
        if (need := criterion.lacks(gold)) is not None
    ]
    if problems:
        raise FormatError(problems)


def _several(values: Any) -> Any:
    """Return a single string as a list of one: its letters are not what is meant."""
    return (values,) if isinstance(values, str) else values


def opened(place: Input) -> Source:
    """Return what is to be read from a place or from several, the parts of one layer.

    Raises:
        FormatError: no such file or folder, nothing in it, or an object that is no place.
    """
    if isinstance(place, Source):
        return place
    if isinstance(place, (str, os.PathLike)):
        return Source.of_path(place)
    if not isinstance(place, Sequence) or isinstance(place, (bytes, bytearray)):
        found = f"{type(place).__module__}.{type(place).__name__} is nothing to read from".removeprefix("builtins.")
        raise FormatError.single("input", None, found, TAKEN)
    return Source.of_parts([opened(part) for part in place])


def _names(place: Input) -> tuple[str, ...]:
    """Return what problems call a place by, or each of several."""
    if isinstance(place, Source):
        return (place.name, *(part.name for part in place.parts))
    if isinstance(place, (str, os.PathLike)):
        return (os.fspath(place),)
    return tuple(name for part in place for name in _names(part))


def _gold_options(options: LoadOptions, progress: Callable[[int, int], None] | None) -> ReadOptions:
    return ReadOptions(
        name="gold",
        column=options.gold_column,
        scheme=options.scheme,
        repair=options.repair,
        core_type=_typed(options.core_type),
        offsets=options.offsets,
        columns=options.columns,
        labels=None if options.labels is None else label_list(options.labels),
        progress=progress,
    )


def _pred_options(
    name: str, options: LoadOptions, gold: Reading | None, progress: Callable[[int, int], None] | None
) -> ReadOptions:
    return ReadOptions(
        name=name,
        column=options.pred_column,
        scheme=options.scheme or (gold.scheme if gold else None),
        repair=options.repair,
        core_type=options.core_type,
        offsets=options.offsets,
        columns=options.columns,
        labels=None if options.labels is None else label_list(options.labels),
        texts=gold.documents if gold else None,
        progress=progress,
    )


def _typed(core_type: str | None) -> str | None:
    """Return the name of a core type.

    Raises:
        FormatError: a name that no type or attribute can have.
    """
    if core_type is not None and len(core_type.split()) != 1:
        raise FormatError.single("core type", None, f"{quoted(core_type)} is no name", "give a brat type or attribute")
    return core_type


def _check_cores(reading: Reading, core_type: str | None) -> None:
    """Refuse a core type where the format has none.

    Raises:
        FormatError: as said.
    """
    known = [readers.readers().get(name) for name in reading.format.split(BETWEEN)]
    if core_type is not None and not any(getattr(reader, "CORES", False) for reader in known):
        form = f"the format '{reading.format}'" if reading.format else "a layer"
        found = f"core type {quoted(core_type)} is asked for, and {form} has no types of cores"
        raise FormatError.single(reading.source, None, found, "leave it out; jsonl says cores with its key core")


def sides(
    gold: Given, pred: Given, *, format: str, core_type: str | None = None, texts: Texts | None = None
) -> tuple[Reading, Reading]:
    """Return what both sides hold; where neither has texts, over the same documents.

    Raises:
        FormatError: as the readers do, `levelled`, and for texts that belong to nothing.
    """
    ours = gold_side(gold, format=format, core_type=core_type, texts=texts)
    return levelled(ours, pred_side(pred, ours, format=format, core_type=core_type))


def gold_side(gold: Given, *, format: str, core_type: str | None = None, texts: Texts | None = None) -> Reading:
    """Return what is given as gold.

    Raises:
        FormatError: as the readers do, and for texts that belong to nothing.
    """
    if texts is not None and not is_objects(gold):
        raise FormatError.single("texts", None, "gold is no list of Python objects", "leave them out, it has its own")
    if is_objects(gold):
        ours = read_objects(cast(Objects, gold), texts=texts)
    else:
        ours = _reading(cast(Reading | Layer | Input, gold), format, None, _typed(core_type))
    _check_cores(ours, core_type)
    return ours


def pred_side(pred: Given, ours: Reading, *, format: str, core_type: str | None = None) -> Reading:
    """Return what is given as a prediction of the gold `ours`.

    Raises:
        FormatError: as the readers do.
    """
    if is_objects(pred):
        held = ours.documents if ours.documents.sizes is None else None
        return read_objects(cast(Objects, pred), texts=held, name="pred", scheme=ours.scheme)
    return _reading(cast(Reading | Layer | Input, pred), format, ours, core_type)


def _reading(given: Reading | Layer | Input, format: str, gold: Reading | None, core_type: str | None) -> Reading:
    if isinstance(given, Reading):
        return given
    if isinstance(given, Layer):
        return Reading(given.documents, given, "", source=given.name)
    options = ReadOptions(core_type=core_type)
    if gold is not None:
        options = replace(options, scheme=gold.scheme, texts=gold.documents)
    return readers.read(opened(given), format=format, options=options)
