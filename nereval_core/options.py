"""Options, each declared once: how Python, the command line and the app offer it, and the values that it may have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from math import inf
from numbers import Integral, Real
from typing import Any

from nereval_core.problems import FormatError, Steps, quoted


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberOption:
    """A numeric option by its name on the command line, and the numbers that it may be.

    It may be either bound, or neither where it is `open`.
    """

    flag: str
    whole: bool = True
    least: float = 0
    most: float = inf
    open: bool = False

    @property
    def allowed(self) -> str:
        """The numbers that are allowed, in words."""
        kind = "a whole number" if self.whole else "a number"
        if self.open:
            return f"{kind} above {self.least:,} and below {self.most:,}"
        return f"{kind} from {self.least:,}" + ("" if self.most == inf else f" to {self.most:,}")

    def parse(self, text: str) -> float:
        """Return the number that a text of the command line stands for.

        Raises:
            FormatError: it is not a number, or not one that the option may be.
        """
        try:
            number = int(text) if self.whole else float(text)
        except ValueError:
            raise self._refusal(text) from None
        self.check(number)
        return number

    def check(self, value: Any) -> None:
        """Refuse a value that the option cannot have.

        Raises:
            FormatError: the problem names the option, the value and what is allowed.
        """
        number = isinstance(value, Integral if self.whole else Real) and not isinstance(value, bool)
        # NaN is on neither side of a bound.
        if not number or not (self.least < value < self.most or (not self.open and value in (self.least, self.most))):
            raise self._refusal(value)

    def _refusal(self, value: Any) -> FormatError:
        return FormatError.single(self.flag, None, f"{quoted(str(value))} is not possible", f"write {self.allowed}")


RESAMPLES = NumberOption(flag="--resamples", least=100, most=1_000_000)
"""Fewer resamples show no tail of 2.5%, more show nothing new."""
SEED = NumberOption(flag="--seed")
LEVEL = NumberOption(flag="level", whole=False, least=0, most=1, open=True)
"""The confidence level of intervals."""
INTERVAL_METHOD = "bias-corrected and accelerated bootstrap"
MARGIN = NumberOption(flag="--margin", whole=False, least=0, most=1, open=True)
"""A difference of F1 within which systems are equivalent."""
FOLD_COUNT = NumberOption(flag="--folds", least=2)
RANKS = NumberOption(flag="--n", least=1)
"""How many ranked links of a prediction count."""
TOP = NumberOption(flag="--top", least=1)
"""How many findings of each kind are listed."""
FORMS = NumberOption(flag="--forms", least=1)
"""How many forms of each class of errors are listed."""
DISPLAYED = NumberOption(flag="limit", least=1)
"""How many records `show` draws."""
PORT = NumberOption(flag="--port", least=1, most=65_535)
RECORDS_PER_CLASS = NumberOption(flag="--records", most=10_000)
"""How many records of each error class a report shows in their text."""


def check_resampling(resamples: int, seed: int) -> None:
    """Refuse a number of resamples or a seed that is not possible.

    Raises:
        FormatError: one of them is not.
    """
    RESAMPLES.check(resamples)
    SEED.check(seed)


def check_margin(margin: float | None, *, runs: bool) -> None:
    """Refuse a margin that is not a difference of F1, or that would be tested over several runs of a system.

    Raises:
        FormatError: it is.
    """
    if margin is None:
        return
    MARGIN.check(margin)
    if runs:
        raise FormatError.single(MARGIN.flag, None, f"{margin:g} is not tested over several runs", "leave it out")


def comma_separated(text: str) -> tuple[str, ...]:
    """Return the items of a text with commas between them."""
    return tuple(item.strip() for item in text.split(",") if item.strip())


@dataclass(frozen=True)
class FormField:
    """A field of the form under "Format and reading" in the app.

    It is a box to tick for a `checkbox`; else it selects one of `values`, which maps them to the words for them; else
    it takes text. `empty` is shown where nothing is selected or written; without it the first value is selected.
    `parse` returns the value of the option for that of the field.
    """

    label: str
    hint: str | None = None
    empty: str | None = None
    values: Callable[[], Mapping[Any, str]] | None = None
    checkbox: bool = False
    parse: Callable[[Any], Any] = lambda value: value


@dataclass(frozen=True)
class Offer:
    """An option as the command line and the app offer it.

    `flag` is its name on the command line, None where another option stands for it; `both` is the option for gold and
    predictions alike, where each side has one of its own. {first} and {others} in `help` are what a verb calls the two,
    {default} is the default, for which None is called `none`; `help_of_one` is the help of a verb that reads a single
    layer, where it is another. `parse` returns the value for the words given; `number` says which numbers it may be. An
    option with several names in `metavar` takes as many words. One that is `repeatable` has a tuple of values, with
    commas between where it is `listed`. Options that `selects` say what of the files is scored. One without `form` is
    not a field of the form; `elsewhere` says where the app asks for it.
    """

    flag: str | None = None
    help: str = ""
    metavar: str | tuple[str, ...] | None = None
    none: str = "none"
    choices: tuple[str, ...] | None = None
    parse: Callable[[str], Any] | None = None
    number: NumberOption | None = None
    repeatable: bool = False
    listed: bool = False
    both: Offer | None = None
    form: FormField | None = None
    help_of_one: str = ""
    selects: bool = False
    elsewhere: str = ""

    def check(self, name: str, value: Any) -> None:
        """Refuse a value of the option of this name that is not among the choices, or not a number that it may be.

        Raises:
            FormatError: it is not.
        """
        if self.number is not None:
            self.number.check(value)
        if self.choices is not None and value not in self.choices:
            remedy = f"use {' or '.join(self.choices)}"
            raise FormatError.single(name, None, f"there is no {quoted(str(value))}", remedy)

    def in_words(self, value: Any) -> str:
        """Return a value as the command line takes it."""
        if value is None:
            return self.none
        if isinstance(value, Mapping):
            return ",".join(f"{name}={part}" for name, part in value.items())
        return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)

    def parsed(self, words: Any) -> Any:
        """Return the value for what the command line holds: a text, a list of texts, or a value already.

        Raises:
            FormatError: a text that stands for no value.
        """
        if self.listed:
            return tuple(item for text in words for item in comma_separated(text))
        if isinstance(words, list):
            return tuple(words)
        parse = self.number.parse if self.number else self.parse
        return parse(words) if isinstance(words, str) and parse else words

    def field(self, default: Any) -> Any:
        """Return the field of a dataclass of options that is offered so."""
        return field(default=default, metadata={"offer": self})


@dataclass(frozen=True)
class Part:
    """Options that other options are composed of: their class, their defaults there, and what is not offered of it."""

    options: type
    defaults: Mapping[str, Any]
    without: frozenset[str]


def composed(options: type, *, without: tuple[str, ...] = (), **defaults: Any) -> Any:
    """Return the field of a dataclass of options that holds other options, with defaults of its own."""
    part = Part(options, defaults, frozenset(without))
    return field(default_factory=lambda: options(**defaults), metadata={"part": part})


def offers(options: type) -> Mapping[str, Offer]:
    """Return how the options of a class are offered, by the name of the field; those of sides come first."""
    offer_of_field = {each.name: each.metadata["offer"] for each in fields(options) if "offer" in each.metadata}
    # The documents that are scored stand before the names of their types.
    return dict(sorted(offer_of_field.items(), key=lambda item: item[1].both is None and not item[1].selects))


def check_offers(options: Any) -> None:
    """Refuse options with a value that their offers do not allow; defaults are allowed.

    Raises:
        FormatError: with every such value.
    """
    steps = Steps()
    for each in fields(options):
        value, offer = getattr(options, each.name), each.metadata.get("offer")
        if offer is not None and value is not each.default:
            with steps.collected():
                offer.check(each.name, value)
    steps.refuse()
