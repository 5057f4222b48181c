"""Load a corpus: gold and predictions are read from their places, paired, and brought onto gold's documents."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from nereval_core import readers
from nereval_core.api.load_options import LoadOptions
from nereval_core.api.token_lines import at_tokens
from nereval_core.corpus import Corpus, Layer
from nereval_core.options import offers
from nereval_core.pairing import Paired
from nereval_core.pairing.selection import DocumentIds
from nereval_core.problems import FormatError, Problem, Remedy, quoted
from nereval_core.readers import Reading, Source

Single = Source | str | os.PathLike[str]
Input = Single | Sequence[Single]
"""A file, a folder, or several of them: the parts of one layer, each in a format of its own."""

NO_INPUT = (
    "give a path, several paths, what read() returned, a layer, a list of spans or tags for each document, a data "
    "frame, a data set, or spaCy's Docs or Examples"
)
"""The remedy for an object that is not an input."""
NONE_SHARED = "no document is in all of the files"
"""The finding where documents that all have are asked for and there are none."""

FLAG = re.compile(r"--[a-z-]+")
BY_SIDE = re.compile(r", or by side --gold-column \S+ --pred-column \S+(?=[,;])")
"""The part of a remedy that names columns for both sides."""

Progress = Callable[[int, int], None]
"""Takes the lines or files done and their total."""


@dataclass(frozen=True, eq=False)
class Loaded:
    """A corpus, and the notes and problems of reading it.

    `gold` and `systems` (by name) are the readings: format and scheme taken, notes; a system's layer in there lies over
    its own documents, the one in the corpus over gold's. `marks` is what must stand in a system's signature.
    `problems` names the systems that could not be read or paired; they are not in the corpus. `lost` are a system's
    spans that have no place in gold's text and were left out in aligning. `options` are those of loading, with the
    documents that all have listed where these were asked for. `remedies` say which options would read a system that has
    problems, as was tried.
    """

    corpus: Corpus
    gold: Reading
    systems: Mapping[str, Reading]
    marks: Mapping[str, tuple[str, ...]]
    problems: Mapping[str, tuple[Problem, ...]]
    lost: Mapping[str, tuple[Problem, ...]]
    options: LoadOptions
    remedies: Mapping[str, tuple[Remedy, ...]] = field(default_factory=dict)

    @property
    def types(self) -> frozenset[str]:
        """The types that a span of gold or of a system has."""
        return frozenset(kind for layer in (self.corpus.gold, *self.corpus.systems) for kind in layer.types)

    def named_layers(self) -> dict[str, Layer]:
        """Return the systems' layers over gold's documents by name."""
        return dict(zip(self.systems, self.corpus.systems, strict=True))


def load_corpus(
    gold: Input,
    systems: Mapping[str, Input],
    *,
    name: str | None = None,
    options: LoadOptions | None = None,
    partial: bool = False,
    progress: Callable[[str], Progress | None] = lambda name: None,
) -> Loaded:
    """Read gold and the named systems, each from one place or from several, and bring all onto gold's documents.

    With `partial` a system that cannot be read or paired is left out and its problems returned with the rest.
    `progress` returns, for the name of each input, the function to be told how far reading is.

    Problems that an option lets pass are told together with those that stand behind them: what pairing would refuse
    once malformed tags are repaired, for instance.

    Raises:
        FormatError: with all problems of all files; under `partial` only where gold itself cannot be read.
    """
    load_options = options or LoadOptions()
    # Standard input can be opened once only.
    gold, systems = _opened_once(gold), {system: _opened_once(place) for system, place in systems.items()}

    def loading(some_systems: Mapping[str, Input]) -> Callable[[LoadOptions], Loaded]:
        return lambda trial: _load(gold, some_systems, name, trial, False, progress)

    try:
        loaded = _load(gold, systems, name, load_options, partial, progress)
    except FormatError as error:
        later = _later_problems(error.problems, load_options, loading(systems)).problems
        if not partial and len(systems) > 1:
            # What lets the problems of one system pass would hide what stands behind those of another.
            with suppress(FormatError):
                loaded = _load(gold, systems, name, load_options, True, progress)
                by_system = _trials(loaded, load_options, loading, systems).values()
                later = tuple(dict.fromkeys(problem for trial in by_system for problem in trial.problems)) or later
        raise FormatError(at_tokens(later, _opened([gold, *systems.values()]))) from None
    trials = _trials(loaded, load_options, loading, systems)
    return replace(
        loaded,
        problems={system: at_tokens(trial.problems, _opened([systems[system]])) for system, trial in trials.items()},
        remedies={
            system: tuple(_remedies(system, trial, load_options, loading({system: systems[system]})))
            for system, trial in trials.items()
        },
    )


TRIALS: Mapping[str, Mapping[str, Any]] = {
    "--repair conlleval": {"repair": "conlleval"},
    "--token-text gold": {"token_text": "gold"},
    "--align-text": {"align_text": True},
    "--truncated outside": {"truncated": "outside"},
    "--malformed empty": {"malformed": "empty"},
    "--unplaced drop": {"unplaced": "drop"},
    "--missing empty": {"missing": "empty"},
    # To find what else is wrong it does not matter how a missing document is counted.
    "--documents shared": {"missing": "empty"},
}
"""The load options that stand for each option that a remedy names."""


def _opened(places: Iterable[Input]) -> list[Source]:
    return [place for place in places if isinstance(place, Source)]


def _opened_once(place: Input) -> Input:
    with suppress(FormatError):
        return source_of(place)
    return place


@dataclass(frozen=True)
class _Trial:
    """Problems of loading and those behind them; what is loaded with the options that let all pass, if any do."""

    problems: tuple[Problem, ...]
    loaded: Loaded | None = None


def _later_problems(problems: Iterable[Problem], options: LoadOptions, load: Callable[[LoadOptions], Loaded]) -> _Trial:
    """Return problems, and those that loading meets once the options are set that let the former pass."""
    all_problems = dict.fromkeys(problems)
    trial = options
    while True:
        named = {problem.option for problem in all_problems if problem.option}
        wider = replace(trial, **{field: value for name in sorted(named) for field, value in TRIALS[name].items()})
        if wider == trial:
            return _Trial(tuple(all_problems))
        trial = wider
        try:
            return _Trial(tuple(all_problems), load(trial))
        except FormatError as error:
            all_problems |= dict.fromkeys(error.problems)


def _trials(
    loaded: Loaded,
    options: LoadOptions,
    loading: Callable[[Mapping[str, Input]], Callable[[LoadOptions], Loaded]],
    systems: Mapping[str, Input],
) -> dict[str, _Trial]:
    """Return the problems of each system that could not be read, with those behind them."""
    return {
        system: _later_problems(problems, options, loading({system: systems[system]}))
        for system, problems in loaded.problems.items()
    }


MENDED = re.compile(
    r"malformed|spelt differently|aligned with gold's text|taken as outside|counted as predicted empty"
    r"|unknown sentences left out"
)
"""In the notes on what a reading changed as its options say."""


def _remedies(
    system: str, trial: _Trial, options: LoadOptions, load: Callable[[LoadOptions], Loaded]
) -> Iterator[Remedy]:
    """Yield the ways in which a refused system can be read, with what each reads of it."""
    if trial.loaded is None:
        return
    ways = [trial.loaded]
    if any("--repair discard" in problem.remedy for problem in trial.problems):
        with suppress(FormatError):
            ways.append(load(replace(trial.loaded.options, repair="discard")))
    for loaded in ways:
        changed = ((name, getattr(loaded.options, name)) for row in TRIALS.values() for name in row)
        yield Remedy(
            trial.problems[0].source,
            tuple({name: value for name, value in changed if value != getattr(options, name)}.items()),
            len(loaded.corpus.system(system)),
            tuple(note for note in loaded.systems[system].notes if MENDED.search(note)),
        )


def _load(
    gold: Input,
    systems: Mapping[str, Input],
    name: str | None,
    options: LoadOptions,
    partial: bool,
    progress: Callable[[str], Progress | None],
) -> Loaded:
    """Read gold and systems with these options and no others; see `load_corpus`."""
    return pair_readings(read_layers(gold, systems, options, progress), options, name=name, partial=partial)


@dataclass(frozen=True, eq=False)
class Readings:
    """Gold and predictions as they were read, before documents are chosen and paired.

    What could not be read stands there as its error. `label` is a short name of gold; `places` are the names of the
    systems' files and folders.
    """

    gold: Reading | FormatError
    systems: Mapping[str, Reading | FormatError]
    label: str = ""
    places: frozenset[str] = frozenset()


def read_layers(
    gold: Input,
    systems: Mapping[str, Input],
    options: LoadOptions,
    progress: Callable[[str], Progress | None] = lambda name: None,
) -> Readings:
    """Read gold, and the systems by its scheme and texts."""
    sources: dict[str, Source] = {}
    readings: dict[str, Reading | FormatError] = {}
    for system, place in systems.items():
        try:
            sources[system] = source_of(place)
        except FormatError as error:
            readings[system] = error
    ours, label = _read_gold(gold, options, progress)
    whole = ours if isinstance(ours, Reading) else None
    for system, source in sources.items():
        read_options = options.of_prediction(system, whole, progress(source.name))
        try:
            readings[system] = readers.read(source, format=options.pred_format, options=read_options)
        except FormatError as error:
            readings[system] = _of_side(error, "pred")
    places = frozenset(name for place in systems.values() for name in source_names(place))
    return Readings(ours, {system: readings[system] for system in systems}, label, places)


def _read_gold(
    gold: Input, options: LoadOptions, progress: Callable[[str], Progress | None]
) -> tuple[Reading | FormatError, str]:
    """Read gold, or return the error; and its short name, "" where it cannot be found."""
    label = ""
    try:
        source = source_of(gold)
        label = source.label
        check_core_type(options.core_type)
        read = readers.read(source, format=options.gold_format, options=options.of_gold(progress(source.name)))
        check_cores(read, options.core_type)
    except FormatError as error:
        return _of_side(error, "gold"), label
    return read, label


def _of_side(error: FormatError, side: Literal["gold", "pred"]) -> FormatError:
    """Return the problems of one side: options that their remedies name for both sides are those of this one.

    An option that helps one side may keep the other from being read.
    """
    own = {
        offer.both.flag: offer.flag
        for name, offer in offers(LoadOptions).items()
        if offer.both is not None and name.startswith(side)
    }
    problems = (
        replace(
            problem,
            remedy=FLAG.sub(lambda match: own.get(match[0]) or match[0], BY_SIDE.sub("", problem.remedy)),
        )
        for problem in error.problems
    )
    return FormatError(problems)


def pair_readings(
    readings: Readings, options: LoadOptions, *, name: str | None = None, partial: bool = False
) -> Loaded:
    """Choose the documents that are scored, and bring the predictions onto gold's.

    Raises:
        FormatError: with the problems of reading and of pairing; under `partial` with those of gold only.
    """
    predictions = [read for read in readings.systems.values() if isinstance(read, Reading)]
    if options.common:
        if isinstance(readings.gold, FormatError):
            raise readings.gold
        options = _with_common_documents(options, readings.gold, predictions)
    selection = options.selection
    whole: Reading | None = None
    ours: Reading | None = None
    problems: list[Problem] = []
    try:
        whole = _or_raised(readings.gold)
        ours = selection.of_gold(whole)
    except FormatError as error:
        problems += error.problems
    selected: dict[str, Reading] = {}
    paired: dict[str, Paired] = {}
    failed: dict[str, tuple[Problem, ...]] = {}
    for system, result in readings.systems.items():
        try:
            read = _or_raised(result)
            if ours is not None and whole is not None:
                selected[system] = selection.of_pred(read, whole, pair_by=options.pair_by)
                paired[system] = selection.paired(ours, selected[system], whole, **options.pairing)
        except FormatError as error:
            failed[system] = error.problems
    system_problems = [problem for rows in failed.values() for problem in rows]
    if ours is None or whole is None:
        # Without gold's texts and scheme a prediction may look worse than it is: only what has a place is told, and
        # what concerns the input as a whole.
        problems += [
            problem for problem in system_problems if problem.line is not None or problem.source in readings.places
        ]
        raise FormatError(dict.fromkeys(problems))
    if not failed:
        problems += selection.unknown_documents([whole, *predictions])
    if not partial:
        problems += system_problems
    if problems:
        raise FormatError(dict.fromkeys(problems))
    ours = replace(ours, notes=(*ours.notes, *selection.unused_names(whole, predictions)))
    layers = tuple(pairing.layer.renamed(system) for system, pairing in paired.items())
    return Loaded(
        Corpus(name or readings.label or ours.source, ours.documents, ours.layer.renamed("gold"), layers),
        ours,
        {
            system: replace(selected[system], notes=(*selected[system].notes, *pairing.notes))
            for system, pairing in paired.items()
        },
        {system: pairing.marks for system, pairing in paired.items()},
        failed,
        {system: pairing.lost for system, pairing in paired.items() if pairing.lost},
        options,
    )


def _or_raised(result: Reading | FormatError) -> Reading:
    if isinstance(result, FormatError):
        raise result
    return result


def _with_common_documents(options: LoadOptions, gold: Reading, predictions: Iterable[Reading]) -> LoadOptions:
    """Return options that list the documents which gold and all predictions that could be read have.

    Raises:
        FormatError: no document is in all, or they have no ids.
    """
    all_documents = [gold.documents, *(reading.documents for reading in predictions)]
    if not all(documents.named for documents in all_documents):
        finding = "documents without ids, which cannot be looked for in all files"
        raise FormatError.single(gold.source, None, finding, "do not ask for those that all have")
    shared = set.intersection(*(set(documents.ids) for documents in all_documents))
    if options.documents is not None:
        shared &= set(options.documents.ids)
    if not shared:
        raise FormatError.single(gold.source, None, NONE_SHARED, "score what fits together")
    listed = DocumentIds(tuple(name for name in gold.documents.ids if name in shared), "documents that all have")
    alike = options.documents is None and all(len(documents) == len(shared) for documents in all_documents)
    return replace(options, common=False, documents=None if alike else listed)


def source_of(place: Input) -> Source:
    """Return what is to be read from a place or from several, the parts of one layer.

    Raises:
        FormatError: no such file or folder, nothing in it, or an object that is not a place.
    """
    if isinstance(place, Source):
        return place
    if isinstance(place, (str, os.PathLike)):
        return Source.of_path(place)
    if not isinstance(place, Sequence) or isinstance(place, (bytes, bytearray)):
        finding = f"{type(place).__module__}.{type(place).__name__} is nothing to read from".removeprefix("builtins.")
        raise FormatError.single("input", None, finding, NO_INPUT)
    return Source.of_parts([source_of(part) for part in place])


def source_names(place: Input) -> tuple[str, ...]:
    """Return the name that problems call a place by, or the names of each of several."""
    if isinstance(place, Source):
        return (place.name, *(part.name for part in place.parts))
    if isinstance(place, (str, os.PathLike)):
        return (os.fspath(place),)
    return tuple(name for part in place for name in source_names(part))


def check_core_type(core_type: str | None) -> None:
    """Refuse a name of a core type that no type or attribute can have.

    Raises:
        FormatError: such a name.
    """
    if core_type is not None and len(core_type.split()) != 1:
        remedy = "give a brat type or attribute"
        raise FormatError.single("core type", None, f"{quoted(core_type)} is not a name", remedy)


def check_cores(reading: Reading, core_type: str | None) -> None:
    """Refuse a core type where the format has none.

    Raises:
        FormatError: the format has no types of cores.
    """
    if core_type is None:
        return
    from nereval_core.readers.shared.layer_parts import BETWEEN

    formats = [readers.reader(name) for name in reading.format.split(BETWEEN) if name in readers.formats()]
    if not any(reader.has_cores for reader in formats):
        form = f"the format '{reading.format}'" if reading.format else "a layer"
        finding = f"core type {quoted(core_type)} is asked for, and {form} has no types of cores"
        raise FormatError.single(reading.source, None, finding, "leave it out; jsonl says cores with its key core")
