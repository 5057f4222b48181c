"""A published scorer as data: its rules as functions, its options, and the input that it reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import numpy as np
import pandas as pd

from nereval_core import readers
from nereval_core.conventions.outcome import (
    NO_DOCUMENTS,
    CountTables,
    Figures,
    Outcome,
    RatioNames,
    SideContent,
    Tables,
    figure_table,
    without_records,
)
from nereval_core.corpus import Documents, Layer
from nereval_core.pairing import Pairing
from nereval_core.pairing.selection import Selection
from nereval_core.problems import FormatError, Problem, ProblemList, counted, quoted
from nereval_core.readers import ReadOptions, Source, conll
from nereval_core.readers.read_settings import ReadSettings
from nereval_core.readers.shared.label_list import label_list
from nereval_core.readers.shared.token_tags import Tagged, match_tags, no_tokens_note, with_tokens, without_tokens

Options = Mapping[str, Any]
"""The value of each option of a scorer, under its own names."""
Sides = TypeVar("Sides")
"""Both sides as a scorer takes them, made by its `read` or `from_layers` for its `match`: layers, tags, columns."""
TAGS = frozenset({"conll", "hipe"})
"""Formats of scorers that count tags, which stand beside tokens."""
UNTOKENIZED = "bare"
"""The table with the number of documents without tokens."""


class LayerPair(NamedTuple):
    """Layers over the same documents; `marks` name changes made to them, for the signature."""

    gold: Layer
    pred: Layer
    marks: tuple[str, ...] = ()


class TagPair(NamedTuple):
    """The tags of both sides over the same tokens."""

    gold: Tagged
    pred: Tagged


@dataclass(frozen=True, kw_only=True)
class ScorerInput:
    """The files of both sides, and how they are read.

    A scorer that has a file format of its own reads that, whatever the formats say, and mends nothing.
    """

    gold: Source
    pred: Source
    gold_format: str = "auto"
    pred_format: str = "auto"
    gold_column: int | str | None = None
    pred_column: int | str | None = None
    settings: ReadSettings = field(default_factory=ReadSettings)
    pairing: Pairing = field(default_factory=Pairing)
    selection: Selection = field(default_factory=Selection)

    def read_tags(self, *, last: bool = False, docstarts: bool = False) -> TagPair:
        """Read the tags of two files, or of two columns of one, over gold's tokens.

        `last`: tags stand in the last column where none is named. `docstarts`: rows of -DOCSTART- are tokens.
        """
        sides = ((self.gold, self.gold_column), (self.pred, self.pred_column))
        gold, pred = (
            conll.read_tagged(source, column=column, last=last, docstarts=docstarts) for source, column in sides
        )
        return TagPair(gold, match_tags(gold, pred))

    def read(self) -> LayerPair:
        """Read both sides as layers over gold's documents.

        Raises:
            FormatError: with all problems of both.
        """
        shared = {setting.name: getattr(self.settings, setting.name) for setting in fields(ReadSettings)}
        # A published scorer takes no scheme; its own option of that name is another.
        shared["scheme"] = None
        if self.settings.labels is not None:
            shared["labels"] = label_list(self.settings.labels)
        options = ReadOptions(column=self.gold_column, **shared)
        whole = readers.read(self.gold, format=self.gold_format, options=options)
        gold = self.selection.of_gold(whole)
        options = replace(
            options,
            column=self.pred_column,
            gold_scheme=whole.scheme,
            texts=whole.documents,
            gold_types=whole.layer.types,
        )
        pred = readers.read(self.pred, format=self.pred_format, options=options)
        pred = self.selection.of_pred(pred, whole, pair_by=self.pairing.get("pair_by", "auto"))
        if problems := list(self.selection.unknown_documents([whole, pred])):
            raise FormatError(problems)
        paired = self.selection.paired(gold, pred, whole, **self.pairing)
        refuse_unplaced(paired.layer)
        return LayerPair(gold.layer, paired.layer, paired.marks)


def refuse_unplaced(pred: Layer) -> None:
    """Refuse predictions without a place in the text, which no published scorer can be given.

    Raises:
        FormatError: there are any.
    """
    if count := int(pred.unplaced.sum()):
        finding = f"{counted(count, 'prediction')} without a place in the text, which published scorers cannot be given"
        raise FormatError.single(pred.name, None, finding, "leave such out: --unplaced drop")


def refuse_discontinuous(layers: LayerPair, why: str) -> None:
    """Refuse discontinuous spans, of which `why` says what the scorer does.

    Raises:
        FormatError: there are any.
    """
    problems = []
    for layer in layers[:2]:
        for span in sorted(layer.fragments):
            place = f"document {quoted(layer.documents.ids[int(layer.doc[span])])}: {quoted(layer.text(span))}"
            finding = f"{place} is discontinuous, {why}"
            problems.append(Problem(layer.name, None, finding, "join its fragments, or choose another convention"))
    if problems:
        raise FormatError(problems)


@dataclass(frozen=True, slots=True)
class ScorerOption:
    """An option of the scorer, under its own name; `n-best` and `n_best` are the same.

    "list" is text parted by commas, "numbers" a list of integers, "file" the path of a file. Numbers are not below
    `least` and not above `most`. A `shared` option means what the option of `score` with its name does.
    """

    name: str
    help: str
    kind: Literal["text", "integer", "number", "flag", "list", "numbers", "file"] = "text"
    default: Any = None
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    shared: bool = False

    def parse(self, value: Any) -> Any:
        """Return a value as the kind of the option; ValueError says why it cannot be."""
        if self.kind == "flag":
            if not isinstance(value, bool):
                raise ValueError("is neither yes nor no")
            return value
        if self.kind in ("list", "numbers"):
            parts = value.split(",") if isinstance(value, str) else value if isinstance(value, Iterable) else (value,)
            items: list[Any] = [item for item in (str(part).strip() for part in parts) if item]
            if self.kind == "numbers":
                items = [self._number(item, int) for item in items]
            if not items:
                raise ValueError("is an empty list")
            unknown = [item for item in items if self.choices and str(item) not in self.choices]
            if unknown:
                raise ValueError(f"holds {quoted(str(unknown[0]))}, which is not one of {', '.join(self.choices)}")
            return tuple(items)
        if self.choices and str(value) not in self.choices:
            raise ValueError(f"is not one of {', '.join(self.choices)}")
        if self.kind == "file":
            return _file(value)
        if self.kind in ("integer", "number"):
            return self._number(value, int if self.kind == "integer" else float)
        return str(value)

    def _number(self, value: Any, kind: type[int] | type[float]) -> int | float:
        try:
            number = kind(str(value))
        except ValueError:
            raise ValueError("is not a whole number" if kind is int else "is not a number") from None
        if self.least is not None and not number >= self.least:
            raise ValueError(f"is below {self.least:g}")
        if self.most is not None and not number <= self.most:
            raise ValueError(f"is above {self.most:g}")
        return number


def _file(value: Any) -> Path:
    try:
        exists = Path(value).is_file()
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror}") from None
    except TypeError:
        raise ValueError("is not a path") from None
    if not exists:
        raise ValueError("is not a file")
    return Path(value)


@dataclass(frozen=True, eq=False)
class MatchedSides:
    """What a scorer makes of both sides: its counts, and the records behind them when they are asked for.

    `documents` are what records point into, `records` makes those of an evaluation. `figures` are given where they are
    not made of counts that add up, `options` where the scorer chose one itself. `printout` makes the printout of a
    scorer that prints lines of its input, and `system` is the prediction's name there. `marks` name changes made to the
    data before scoring.
    """

    counts: CountTables
    documents: Documents
    records: Callable[[str], pd.DataFrame]
    notes: tuple[str, ...] = ()
    figures: Figures | None = None
    options: Options | None = None
    printout: Callable[[], str] | None = None
    system: str = ""
    marks: tuple[str, ...] = ()

    @classmethod
    def of_layers(cls, layers: LayerPair, tables: Tables, records: Callable[[str], pd.DataFrame]) -> MatchedSides:
        gold, pred = layers.gold, layers.pred
        counts = CountTables(tables, SideContent.of_layer(gold), SideContent.of_layer(pred), pred.name)
        return cls(counts=counts, documents=gold.documents, records=records, marks=layers.marks)

    @classmethod
    def of_tags(
        cls, tags: TagPair, n_gold: int, n_pred: int, tables: Tables, records: Callable[[str], pd.DataFrame]
    ) -> MatchedSides:
        """Return the match of tags of which the scorer makes so many units a side."""
        gold, pred = tags
        contents = SideContent.of_tags(gold, n_gold), SideContent.of_tags(pred, n_pred)
        return cls(counts=CountTables(tables, *contents, pred.source), documents=gold.documents, records=records)


def read_layers(files: ScorerInput, options: Options) -> LayerPair:
    return files.read()


def same_layers(layers: LayerPair, options: Options) -> LayerPair:
    return layers


@dataclass(frozen=True)
class ScorerSteps(Generic[Sides]):
    """The steps of a scorer up to decided units.

    `read` reads files as the scorer does. `from_layers` makes the same of layers that were read already, in any format;
    it is None where these do not hold what the scorer needs. `match` decides the units of both sides.
    """

    read: Callable[[ScorerInput, Options], Sides]
    from_layers: Callable[[LayerPair, Options], Sides] | None
    match: Callable[[Sides, Options], MatchedSides]

    def match_files(self, files: ScorerInput, options: Options) -> MatchedSides:
        return self.match(self.read(files, options), options)

    def match_layers(self, gold: Layer, pred: Layer, options: Options) -> MatchedSides:
        assert self.from_layers is not None, "it takes files only"
        return self.match(self.from_layers(LayerPair(gold, pred), options), options)


class PartWeights(NamedTuple):
    """What each counter of a record adds to the credit of gold and of predictions, and to their numbers.

    P is the credit of predictions by their number, R that of gold, F1 their harmonic mean. Weights are quarters.
    """

    gold_credit: Mapping[str, float]
    pred_credit: Mapping[str, float]
    gold: Mapping[str, float]
    pred: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Convention:
    """A published scorer at one version.

    `sentence` describes it in one line, `needs` names the data it takes, `source` the origin of its rules (program and
    version, paper). `steps` read files of our `formats` (empty: of any) and decide the units of both sides, and
    `figures` makes figures of their counts. Counts add up over parts of a corpus, unless `not_by_shards` says why they
    do not, or why not with some options.

    `twins` names, by evaluation, the criterion of ours that means the same; evaluations with a part in `beside_layer`
    score what no layer has. `names_elsewhere` are the names that papers have for evaluations, by their last part.
    `forms` are the printouts of the scorer itself, by name. `ratios` are its names for precision, recall and F1.
    `other_formulas` says of other ratios, or of `evaluation/ratio` by the last part of the evaluation, how they are
    made of the figures of their scope, written with × and / and their names. `parts` say, by evaluation ("": of any
    other), how its ratios are made of counters where `ratios` do not. `words` says that it looks at the words of spans,
    not at their places alone.
    """

    name: str
    family: str
    sentence: str
    needs: str
    source: str
    steps: ScorerSteps[Any]
    figures: Callable[[CountTables, Options], Figures] | None = None
    not_by_shards: Callable[[Options], str] | str = ""
    formats: tuple[str, ...] = ()
    options: tuple[ScorerOption, ...] = ()
    twins: Mapping[str, str] = field(default_factory=dict)
    beside_layer: frozenset[str] = frozenset()
    names_elsewhere: Mapping[str, str] = field(default_factory=dict)
    forms: Mapping[str, Callable[[Outcome], str]] = field(default_factory=dict)
    ratios: RatioNames
    other_formulas: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[str, PartWeights] = field(default_factory=dict)
    words: bool = False

    @property
    def takes_layers(self) -> bool:
        return self.steps.from_layers is not None

    @property
    def formulas(self) -> Mapping[str, str]:
        return {**self.ratios.formulas, **self.other_formulas}

    def score(self, files: ScorerInput, options: Options) -> Outcome:
        """Score files as the scorer reads them.

        Raises:
            FormatError: input that cannot be read, data that the scorer cannot have.
        """
        return self.outcome(self.steps.match_files(files, options), options)

    def of_layers(self, gold: Layer, pred: Layer, options: Options, marks: tuple[str, ...] = ()) -> Outcome:
        """Score layers over the same documents.

        Raises:
            FormatError: data that the scorer cannot have.
        """
        outcome = self.outcome(self.steps.match_layers(gold, pred, options), options)
        notes = () if TAGS.isdisjoint(self.formats) else with_tokens(gold.documents)[1]
        return replace(outcome, notes=tuple(dict.fromkeys((*outcome.notes, *notes))), marks=marks)

    def count(self, gold: Layer, pred: Layer, options: Options) -> CountTables:
        """Count the units of a part of a corpus; a document stands in one part."""
        counts = self.steps.match_layers(gold, pred, options).counts
        if TAGS.isdisjoint(self.formats):
            return counts
        bare = int(np.count_nonzero(without_tokens(gold.documents)))
        return replace(counts, tables={**counts.tables, UNTOKENIZED: {"documents": (bare,)}})

    def of_counts(self, counts: CountTables, options: Options) -> Outcome:
        """Return the figures of counts, without records."""
        outcome = self.outcome(MatchedSides(counts, NO_DOCUMENTS, without_records), options)
        notes = no_tokens_note(counts.number(UNTOKENIZED, "documents"), counts.gold.documents)
        return replace(outcome, notes=(*outcome.notes, *notes))

    def outcome(self, matched: MatchedSides, options: Options) -> Outcome:
        """Return the figures of both sides once their units are decided."""
        options = options if matched.options is None else matched.options
        figures = matched.figures
        if figures is None:
            assert self.figures is not None, "figures are made of counts or given"
            figures = self.figures(matched.counts, options)
        return Outcome(
            self.name,
            options,
            matched.documents,
            matched.counts.gold,
            matched.counts.pred,
            figures.scores,
            figure_table(figures.rows),
            matched.records,
            (*matched.notes, *figures.notes),
            matched.printout,
            matched.system,
            matched.marks,
        )


def option_values(convention: Convention, values: Options) -> Options:
    """Return the value of every option of a convention: the given one, parsed, or its default.

    Raises:
        FormatError: an option it does not have, or a value the option cannot have; all of them at once.
    """
    options = {option.name.replace("-", "_"): option for option in convention.options}
    parsed = {option.name: option.default for option in convention.options}
    problems = ProblemList()
    for key, value in values.items():
        option = options.get(key.replace("-", "_"))
        if option is None:
            names = ", ".join(f"--{option.name}" for option in options.values()) or "none"
            finding = f"{convention.name} has no option --{key}"
            problems.append(Problem(f"--{key}", None, finding, f"its options: {names}"))
        elif value is not None:
            try:
                parsed[option.name] = option.parse(value)
            except ValueError as error:
                problems.append(Problem(f"--{option.name}", None, f"{quoted(str(value))} {error}", option.help))
    if problems:
        raise FormatError(problems)
    return MappingProxyType(parsed)
