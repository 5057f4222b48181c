"""Tell spellings of a surface form apart by case where they are annotated differently: `GAS`, a gene, and `gas`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.analysis.running_words import Words
from nereval_core.arrays import Int64

Case = Literal["differs", "ignore", "keep"]
"""Whether case matters: to forms whose spellings are annotated differently, to none, or to all."""
LEAST = 2
"""Places that a spelling must have before the way it is annotated counts against that of another."""
Codes = NDArray[np.integer[Any]]
_BASE = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class Cases:
    """The spellings that are told apart: form i is number i where case does not matter to it, and each spelling of the
    others has a number from `forms` on. `base` (numbers,) is the form of each; `apart` counts the forms told apart."""

    words: Words
    forms: int
    base: Int64
    keys: pd.Index
    split: NDArray[np.bool_]
    low: Int64
    high: Int64

    @property
    def apart(self) -> int:
        return int(self.split.sum())

    def number(self, form: Codes, low: Codes, high: Codes) -> Int64:
        """Return the number of each occurrence of a form, which is the words `low` to `high`; -1 for a spelling that
        is nowhere annotated or free."""
        found = form.astype(np.int64)
        some = np.flatnonzero(self.split[found]) if self.apart else np.zeros(0, np.int64)
        if len(some):
            at = self.keys.get_indexer(pd.Index(_keys(self.words, form[some], low[some], high[some])))
            found[some] = np.where(at >= 0, at + self.forms, -1)
        return found

    def example(self, number: int) -> tuple[int, int] | None:
        """Return the words of a spelling, the end exclusive; None for a form to which case does not matter."""
        at = number - self.forms
        return None if at < 0 else (int(self.low[at]), int(self.high[at]))


def cases(words: Words, forms: int, case: Case, form: Codes, low: Codes, high: Codes, way: Codes) -> Cases:
    """Find the forms that are told apart by case, among occurrences that are annotated in some way or free of any.

    Under `differs` case matters to a form if two of its spellings have LEAST places each and most of them are
    annotated in different ways.
    """
    split = np.zeros(forms, bool)
    nothing = np.zeros(0, np.int64)
    if case == "ignore" or not len(form):
        return Cases(words, forms, np.arange(forms), pd.Index(nothing), split, nothing, nothing)
    key, distinct = pd.factorize(_keys(words, form, low, high))
    of = np.zeros(len(distinct), np.int64)
    of[key] = form
    several = np.bincount(of, minlength=forms) > 1
    if case == "keep":
        split = several
    else:
        asked = several[form]
        table = pd.DataFrame({"key": key[asked], "way": way[asked]}).value_counts(sort=False).reset_index(name="number")
        table["total"] = table.groupby("key")["number"].transform("sum")
        most = table[(2 * table["number"] > table["total"]) & (table["total"] >= LEAST)]
        ways = most.assign(form=of[most["key"].to_numpy()]).groupby("form")["way"].nunique()
        split[ways.index[ways > 1].to_numpy(np.int64)] = True
    told = np.flatnonzero(split[of])
    first = np.zeros(len(distinct), np.int64)
    first[key[::-1]] = np.arange(len(key))[::-1]
    return Cases(
        words,
        forms,
        np.concatenate((np.arange(forms), of[told])),
        pd.Index(np.asarray(distinct)[told]),
        split,
        np.asarray(low, np.int64)[first[told]],
        np.asarray(high, np.int64)[first[told]],
    )


def _keys(words: Words, form: Codes, low: Codes, high: Codes) -> NDArray[np.uint64]:
    """Return a number of 64 bits for each form with its spelling."""
    found = form.astype(np.uint64)
    size = np.asarray(high - low)
    for place in range(int(size.max(initial=0))):
        some = np.flatnonzero(size > place)
        found[some] = found[some] * _BASE + words.spelt[low[some] + place].astype(np.uint64) + np.uint64(1)
    return found
