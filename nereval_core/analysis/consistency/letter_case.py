"""Letter case: spellings of a surface form that are told apart, as `GAS`, a gene, and `gas`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.analysis.running_words import Words
from nereval_core.arrays import Int64

LetterCase = Literal["differs", "ignore", "keep"]
"""The forms whose case matters: those with spellings that are annotated differently, none, or all."""
LEAST_PLACES = 2
"""Places that a spelling must have for its annotation to be compared with another spelling's."""
Codes = NDArray[np.integer[Any]]
_BASE = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class Spellings:
    """The numbers of forms and spellings: form i has the number i, or its spellings have numbers from `forms` on.

    `split` (forms,) tells which forms are told apart by case. `base` (numbers,) is the form of each number.
    """

    words: Words
    forms: int
    base: Int64
    keys: pd.Index
    split: NDArray[np.bool_]
    low: Int64
    high: Int64

    @property
    def apart(self) -> int:
        """The number of forms told apart."""
        return int(self.split.sum())

    def number(self, form: Codes, low: Codes, high: Codes) -> Int64:
        """Return the number of each occurrence of a form, the words `low` to `high`; -1 for an unknown spelling."""
        found = form.astype(np.int64)
        some = np.flatnonzero(self.split[found]) if self.apart else np.zeros(0, np.int64)
        if len(some):
            at = self.keys.get_indexer(pd.Index(_spelling_hashes(self.words, form[some], low[some], high[some])))
            found[some] = np.where(at >= 0, at + self.forms, -1)
        return found

    def example(self, number: int) -> tuple[int, int] | None:
        """Return the words of a spelling, the end exclusive; None for a form that is not told apart."""
        at = number - self.forms
        return None if at < 0 else (int(self.low[at]), int(self.high[at]))


def distinguish_spellings(
    words: Words, forms: int, case: LetterCase, form: Codes, low: Codes, high: Codes, way: Codes
) -> Spellings:
    """Tell forms apart by case, given their occurrences, which are annotated in some `way` or not at all.

    Under `differs` a form is told apart if two of its spellings have LEAST_PLACES each and are mostly annotated in
    different ways.
    """
    split = np.zeros(forms, bool)
    nothing = np.zeros(0, np.int64)
    if case == "ignore" or not len(form):
        return Spellings(words, forms, np.arange(forms), pd.Index(nothing), split, nothing, nothing)
    key, distinct = pd.factorize(_spelling_hashes(words, form, low, high))
    of = np.zeros(len(distinct), np.int64)
    of[key] = form
    several = np.bincount(of, minlength=forms) > 1
    if case == "keep":
        split = several
    else:
        asked = several[form]
        table = pd.DataFrame({"key": key[asked], "way": way[asked]}).value_counts(sort=False).reset_index(name="number")
        table["total"] = table.groupby("key")["number"].transform("sum")
        most = table[(2 * table["number"] > table["total"]) & (table["total"] >= LEAST_PLACES)]
        ways = most.assign(form=of[most["key"].to_numpy()]).groupby("form")["way"].nunique()
        split[ways.index[ways > 1].to_numpy(np.int64)] = True
    told = np.flatnonzero(split[of])
    first = np.zeros(len(distinct), np.int64)
    first[key[::-1]] = np.arange(len(key))[::-1]
    return Spellings(
        words,
        forms,
        np.concatenate((np.arange(forms), of[told])),
        pd.Index(np.asarray(distinct)[told]),
        split,
        np.asarray(low, np.int64)[first[told]],
        np.asarray(high, np.int64)[first[told]],
    )


def _spelling_hashes(words: Words, form: Codes, low: Codes, high: Codes) -> NDArray[np.uint64]:
    """Return a hash of 64 bits for each form with its spelling."""
    found = form.astype(np.uint64)
    size = np.asarray(high - low)
    for place in range(int(size.max(initial=0))):
        some = np.flatnonzero(size > place)
        found[some] = found[some] * _BASE + words.spelt[low[some] + place].astype(np.uint64) + np.uint64(1)
    return found
