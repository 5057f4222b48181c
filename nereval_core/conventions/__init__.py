"""The published scorers, number for number: one module per scorer, found by listing this folder.

A module of a scorer has `CONVENTIONS`, a tuple with one `Convention` for each version. Modules without it are no
conventions.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from nereval_core import readers
from nereval_core.conventions.outcome import Outcome
from nereval_core.conventions.shares import ByShares
from nereval_core.corpus import Layer
from nereval_core.pairing import Pairing
from nereval_core.pairing.selection import Selection
from nereval_core.problems import FormatError, Problem, counted, quoted
from nereval_core.readers import ReadOptions, Source, conll
from nereval_core.readers.read_settings import Malformed, Repeats, Unplaced
from nereval_core.readers.recognition import likely_format
from nereval_core.readers.shared.label_list import LabelList
from nereval_core.readers.shared.offset_units import Offsets
from nereval_core.readers.shared.token_tags import Tagged, match_tags, with_tokens

__all__ = [
    "Convention",
    "Given",
    "Option",
    "Outcome",
    "Sides",
    "apply",
    "apply_to_layers",
    "conventions",
    "find_convention",
    "option_values",
]

TAGS = frozenset({"conll", "hipe"})
"""Formats of scorers that count tags, which stand beside tokens."""


@dataclass(frozen=True, slots=True)
class Option:
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


class Sides(NamedTuple):
    """Layers over the same documents; `marks` name changes made to them, for the signature."""

    gold: Layer
    pred: Layer
    marks: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Given:
    """The two sides as the user gave them, and how they are to be read.

    A scorer that has a file format of its own reads that, whatever the formats say, and mends nothing.
    """

    gold: Source
    pred: Source
    gold_format: str = "auto"
    pred_format: str = "auto"
    gold_column: int | str | None = None
    pred_column: int | str | None = None
    pairing: Pairing = field(default_factory=Pairing)
    repair: Literal["conlleval", "discard"] | None = None
    offsets: Offsets | None = None
    columns: Mapping[str, int | str] | None = None
    labels: LabelList | None = None
    repeated: Repeats = "next"
    edits: float = 0.2
    unplaced: Unplaced = "spurious"
    malformed: Malformed = "refuse"
    selection: Selection = field(default_factory=Selection)

    def layers(self) -> tuple[Layer, Layer]:
        """Read both sides as layers over gold's documents: see `read`."""
        return self.read()[:2]

    def read_tags(self, *, last: bool = False, docstarts: bool = False) -> tuple[Tagged, Tagged]:
        """Read the tags of two files, or of two columns of one, over gold's tokens.

        `last`: tags stand in the last column where none is named. `docstarts`: rows of -DOCSTART- are tokens.
        """
        sides = ((self.gold, self.gold_column), (self.pred, self.pred_column))
        gold, pred = (
            conll.read_tagged(source, column=column, last=last, docstarts=docstarts) for source, column in sides
        )
        return gold, match_tags(gold, pred)

    def read(self) -> Sides:
        """Read both sides as layers over gold's documents, with the marks of changes made to them.

        Raises:
            FormatError: with all problems of both.
        """
        options = ReadOptions(
            column=self.gold_column,
            repair=self.repair,
            offsets=self.offsets,
            columns=self.columns,
            labels=self.labels,
            repeated=self.repeated,
            edits=self.edits,
            unplaced=self.unplaced,
            malformed=self.malformed,
        )
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
        _refuse_unplaced(paired.layer)
        return Sides(gold.layer, paired.layer, paired.marks)


@dataclass(frozen=True, kw_only=True)
class Convention:
    """A published scorer at one version.

    `sentence` describes it in one line, `needs` names the data it takes, `source` the origin of its rules (program and
    version, paper). `score` reads files as the scorer does, those of our `formats` (empty: of any); `of_layers` takes
    layers that were read already, in any format, and is None where these do not hold what the scorer needs. `by_shares`
    counts parts of a corpus as `of_layers` does all of it, or says why that cannot be. `twins` names, by evaluation,
    the criterion of ours that means the same. `forms` are the printouts of the scorer itself, by name.

    `names` gives the names that the scorer has for P, R, F1 and, where they are counted, COR, POS and ACT; `percent`
    says that its ratios go to 100. `formulas` says of a ratio, or of `evaluation/ratio` by the last part of the
    evaluation, how it is made of the other figures of its scope, written with × and / and their names. `words` says
    that it looks at the words of spans, not at their places alone.
    """

    name: str
    family: str
    sentence: str
    needs: str
    source: str
    score: Callable[[Given, Mapping[str, Any]], Outcome]
    of_layers: Callable[[Layer, Layer, Mapping[str, Any]], Outcome] | None = None
    formats: tuple[str, ...] = ()
    by_shares: ByShares | str = "its counts are not kept by shard yet"
    options: tuple[Option, ...] = ()
    twins: Mapping[str, str] = field(default_factory=dict)
    forms: Mapping[str, Callable[[Outcome], str]] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    percent: bool = False
    formulas: Mapping[str, str] = field(default_factory=dict)
    words: bool = False


@cache
def conventions() -> Mapping[str, Convention]:
    """Return the conventions by name."""
    modules = (import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__))
    found = [convention for module in modules for convention in getattr(module, "CONVENTIONS", ())]
    return MappingProxyType({convention.name: convention for convention in found})


def find_convention(name: str) -> Convention:
    """Return the convention of this name.

    Raises:
        FormatError: there is none.
    """
    convention = conventions().get(name)
    if convention is None:
        remedy = f"choose one of {', '.join(conventions())}"
        raise FormatError.single("--convention", None, f"no convention {quoted(name)}", remedy)
    return convention


def apply(convention: Convention, given: Given, options: Mapping[str, Any] = MappingProxyType({})) -> Outcome:
    """Score by a convention: files of the scorer's own format as it reads them, others by the layers they hold.

    Where one of the two sides is in another format or in several parts, or where documents are chosen or types called
    otherwise, both are scored by their layers.

    Raises:
        FormatError: options it does not have, input that cannot be read, data it cannot have.
    """
    values = option_values(convention, options)
    if given.gold.parts or given.pred.parts or given.selection:
        return apply_to_layers(convention, given.read(), options)
    if convention.of_layers and convention.formats:
        sides = ((given.gold, given.gold_format), (given.pred, given.pred_format))
        chosen = {likely_format(source) if format == "auto" else format for source, format in sides}
        if chosen - {None, *convention.formats}:
            return _of_layers(convention, given.read(), values)
    return convention.score(given, values)


def apply_to_layers(convention: Convention, sides: Sides, options: Mapping[str, Any] = MappingProxyType({})) -> Outcome:
    """Score layers by a convention.

    Raises:
        FormatError: options it does not have, a scorer that takes its own files only or looks at words that are not
            there, data it cannot have.
    """
    values = option_values(convention, options)
    _refuse_unplaced(sides.pred)
    found = ""
    if convention.of_layers is None:
        found = "it scores files of its own format only"
    elif convention.words and sides.gold.documents.sizes is not None:
        found = "it looks at words, and there are no texts"
    if found:
        remedy = f"it needs {convention.needs}"
        raise FormatError.single(convention.name, None, found, remedy)
    return _of_layers(convention, sides, values)


def _refuse_unplaced(pred: Layer) -> None:
    """Refuse predictions without a place in the text, which no published scorer can be given.

    Raises:
        FormatError: there are some.
    """
    if count := int(pred.unplaced.sum()):
        found = f"{counted(count, 'prediction')} without a place in the text, which published scorers cannot be given"
        raise FormatError.single(pred.name, None, found, "leave such out: --unplaced drop")


def _of_layers(convention: Convention, sides: Sides, values: Mapping[str, Any]) -> Outcome:
    assert convention.of_layers is not None
    outcome = convention.of_layers(sides.gold, sides.pred, values)
    notes = outcome.notes
    if not TAGS.isdisjoint(convention.formats):
        notes = tuple(dict.fromkeys((*notes, *with_tokens(sides.gold.documents)[1])))
    return replace(outcome, notes=notes, marks=sides.marks)


def option_values(convention: Convention, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the value of every option of a convention: as given (text is parsed), or its default.

    Raises:
        FormatError: an option it does not have, or a value the option cannot have; all of them at once.
    """
    known = {option.name.replace("-", "_"): option for option in convention.options}
    values = {option.name: option.default for option in convention.options}
    problems = []
    for key, value in given.items():
        option = known.get(key.replace("-", "_"))
        if option is None:
            names = ", ".join(f"--{option.name}" for option in known.values()) or "none"
            found = f"{convention.name} has no option --{key}"
            problems.append(Problem(f"--{key}", None, found, f"its options: {names}"))
        elif value is not None:
            try:
                values[option.name] = _parsed(option, value)
            except ValueError as error:
                problems.append(Problem(f"--{option.name}", None, f"{quoted(str(value))} {error}", option.help))
    if problems:
        raise FormatError(problems)
    return MappingProxyType(values)


def _parsed(option: Option, value: Any) -> Any:
    """Return a value as the option's kind; ValueError says why it cannot be."""
    if option.kind == "flag":
        if not isinstance(value, bool):
            raise ValueError("is neither yes nor no")
        return value
    if option.kind in ("list", "numbers"):
        given = value.split(",") if isinstance(value, str) else value if isinstance(value, Iterable) else (value,)
        items: list[Any] = [item for item in (str(item).strip() for item in given) if item]
        if option.kind == "numbers":
            items = [_number(item, int, option) for item in items]
        if not items:
            raise ValueError("is an empty list")
        wrong = [item for item in items if option.choices and str(item) not in option.choices]
        if wrong:
            raise ValueError(f"holds {quoted(str(wrong[0]))}, which is not one of {', '.join(option.choices)}")
        return tuple(items)
    if option.choices and str(value) not in option.choices:
        raise ValueError(f"is not one of {', '.join(option.choices)}")
    if option.kind == "file":
        try:
            known = Path(value).is_file()
        except OSError as error:
            raise ValueError(f"cannot be read: {error.strerror}") from None
        except TypeError:
            raise ValueError("is not a path") from None
        if not known:
            raise ValueError("is not a file")
        return Path(value)
    if option.kind in ("integer", "number"):
        return _number(value, int if option.kind == "integer" else float, option)
    return str(value)


def _number(value: Any, kind: type[int] | type[float], option: Option) -> int | float:
    try:
        number = kind(str(value))
    except ValueError:
        raise ValueError("is not a whole number" if kind is int else "is not a number") from None
    if option.least is not None and not number >= option.least:
        raise ValueError(f"is below {option.least:g}")
    if option.most is not None and not number <= option.most:
        raise ValueError(f"is above {option.most:g}")
    return number
