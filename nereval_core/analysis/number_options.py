"""Numeric options of analyses, each with the numbers that it may be: for Python, the command line and the app alike."""

from __future__ import annotations

from nereval_core.problems import FormatError, NumberOption

RESAMPLES = NumberOption(flag="--resamples", least=100, most=1_000_000)
"""Fewer resamples show no tail of 2.5%, more show nothing new."""
SEED = NumberOption(flag="--seed")
LEVEL = NumberOption(flag="level", whole=False, least=0, most=1, open=True)
"""The confidence level of intervals."""
MARGIN = NumberOption(flag="--margin", whole=False, least=0, most=1, open=True)
"""A difference of F1 within which systems are equivalent."""
FOLD_COUNT = NumberOption(flag="--folds", least=2)
RANKS = NumberOption(flag="--n", least=1)
"""How many ranked links of a prediction count."""
TOP = NumberOption(flag="--top", least=1)
"""How many findings of each kind are listed."""
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
