"""Works that are cited, and the methods that are from them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from urllib.parse import quote

from nereval_core.tables.glossary import Term

_FILE = Path(__file__).with_name("references.bib")
_PARTICLES = ("van", "von", "de")
ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "SemEval-2013 task 9.1": "segura-bedmar2013",
        'HIPE "fuzzy"': "ehrmann2020",
        "GENETAG": "tanabe2005",
    }
)
"""Names by which `source` of a criterion calls a work otherwise than by its short citation."""


@dataclass(frozen=True, slots=True)
class Work:
    """A work with the entry of the file that it is read from, and the fields of that entry as plain text."""

    key: str
    entry: str
    fields: Mapping[str, str]

    @property
    def citation(self) -> str:
        """The short citation: `Efron 1987`, `Hripcsak and Rothschild 2005`, `Tsai et al. 2006`."""
        names = [_family_name(name) for name in self._authors()]
        who = " and ".join(names) if len(names) < 3 else f"{names[0]} et al."
        return f"{who} {self.fields['year']}"

    @property
    def reference(self) -> str:
        """The whole reference in a line."""
        names = [re.sub("[{}]", "", name) for name in self._authors()]
        listed = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
        listed = re.sub(r" and others$", " et al.", listed)
        where = [self.fields[name] for name in ("journal", "booktitle", "publisher", "institution") if self._has(name)]
        volume = self.fields.get("volume", "") + (f"({self.fields['number']})" if self._has("number") else "")
        place = " ".join([*where, *([volume] if volume else [])])
        pages = f", {self.fields['pages']}" if self._has("pages") else ""
        return f"{listed} ({self.fields['year']}). {self.fields['title']}." + (f" {place}{pages}." if place else "")

    @property
    def url(self) -> str:
        """The address of the work, "" where the file has neither DOI nor URL."""
        doi = self.fields.get("doi")
        return f"https://doi.org/{quote(doi, safe='/')}" if doi else self.fields.get("url", "")

    def _authors(self) -> list[str]:
        return self.fields["author"].split(" and ")

    def _has(self, name: str) -> bool:
        return name in self.fields


@cache
def works() -> Mapping[str, Work]:
    """Return all works by key, in the order of their keys."""
    by_key = {}
    for entry in re.findall(r"^@.*?^}$", _FILE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        key = entry[entry.index("{") + 1 : entry.index(",")]
        fields = {name: _plain(name, text) for name, text in re.findall(r"^  (\w+) = \{(.*)\},$", entry, re.MULTILINE)}
        by_key[key] = Work(key, entry, MappingProxyType(fields))
    return MappingProxyType(by_key)


def bibtex(keys: Iterable[str]) -> str:
    """Return the entries of works in the order of their keys."""
    return "".join(f"{works()[key].entry}\n" for key in sorted(set(keys)))


def works_named_in(text: str) -> tuple[str, ...]:
    """Return the keys of the works that a text cites by short citations or ALIASES, in their order."""
    named = {work.citation: key for key, work in works().items()} | dict(ALIASES)
    places = sorted((text.index(name), key) for name, key in named.items() if name in text)
    return tuple(dict.fromkeys(key for _, key in places))


def _plain(name: str, text: str) -> str:
    """Return the text of a field without markup; braces of names are kept, as they hold a family name together."""
    plain_text = text.replace("\\&", "&").replace("--", "–")
    return plain_text if name == "author" else re.sub("[{}]", "", plain_text)


def _family_name(name: str) -> str:
    """Return the family name of `First {Family Name}` or `First van Family`; "others" stay."""
    if (braced := re.search(r"\{(.*)\}", name)) is not None:
        return braced[1]
    parts = name.split()
    first = next((place for place, part in enumerate(parts) if part in _PARTICLES), -1)
    return " ".join(parts[first:])


INTERVAL, STRATA, WILSON_INTERVAL = "bootstrap interval", "strata", "Wilson's interval"
RANDOMIZATION, HOLM, FALSE_DISCOVERY = "approximate randomization", "Holm's correction", "Benjamini-Hochberg correction"
LEAST_DIFFERENCE, EQUIVALENCE = "least difference shown", "two one-sided tests"
SEVERAL_RUNS = "several runs of a system"
ECE, MCE, BRIER = "expected calibration error", "maximum calibration error", "Brier score"
AREA, EQUAL_MASS, REFLECTED = "area under the risk-coverage curve", "bins of equal mass", "reflected interval"


def _method(name: str, sentence: str, *sources: str) -> Term:
    return Term(name, name, sentence, sources=sources)


_METHODS = (
    _method(
        INTERVAL,
        "Units such as documents are drawn with replacement, many times; the interval holds 95% of the figures of "
        "these resamples, corrected for bias and skewness, and is wider where units are few or uneven.",
        *("efron1987", "hesterberg2015", "satterthwaite1946"),
    ),
    _method(STRATA, "Units are drawn from each stratum for itself, as many as it has.", "davison1997"),
    _method(
        WILSON_INTERVAL,
        "An interval of a share for independent spans, where the units are too few to be resampled.",
        "wilson1927",
    ),
    _method(
        RANDOMIZATION,
        "Two systems change places in units drawn at random, which changes nothing on average if they are equally "
        "good; p is the share of such draws in which the difference is at least as large as the observed one.",
        "noreen1989",
    ),
    _method(
        HOLM,
        "p values are raised for the number of tests, so that the chance of any false finding stays below 5%.",
        "holm1979",
    ),
    _method(
        FALSE_DISCOVERY,
        "p values are raised for the number of tests, so that at most 5% of the findings are false on average.",
        "benjamini1995",
    ),
    _method(
        LEAST_DIFFERENCE,
        "The difference that a test at 5% finds in 80 of 100 corpora like this one, from the standard error of the "
        "delete-one jackknife.",
        "efron1993",
    ),
    _method(
        EQUIVALENCE,
        "Two systems are equally good within a margin if one test shows that the difference is above its lower end, "
        "and another that it is below its upper end; p is the larger of the two.",
        "schuirmann1987",
    ),
    _method(
        SEVERAL_RUNS,
        "Systems are compared by the mean F1 of their runs; to its variance over units, by the delete-one jackknife, "
        "runs add what they differ by beyond it; intervals and p are those of Student's t.",
        *("dorfman1992", "satterthwaite1946"),
    ),
    Term("f1", "F1 of annotators", "F1 of their spans, one of the two taken as gold.", sources=("hripcsak2005",)),
    Term(
        "observed",
        "observed agreement",
        "The share of tokens with the same types from both; most tokens have none, so it is high.",
    ),
    Term(
        "kappa",
        "Cohen's kappa",
        "Agreement on the types of tokens beyond what chance gives: 1 is perfect, 0 no better than chance; for more "
        "than two annotators it is Fleiss' kappa.",
        sources=("cohen1960", "fleiss1971"),
    ),
    Term(
        "kappa-words",
        "words for kappa",
        "Below 0 poor, to 0.20 slight, to 0.40 fair, to 0.60 moderate, to 0.80 substantial, above almost perfect; a "
        "convention, which knows neither the task nor how rare its types are.",
        sources=("landis1977",),
    ),
    Term(
        "alpha",
        "Krippendorff's alpha",
        "1 less observed over expected disagreement on the types of tokens, expected from all values together.",
        sources=("krippendorff2011",),
    ),
    Term(
        "unitizing",
        "unitizing alpha (2004)",
        "1 less observed over expected disagreement on which stretches of characters are marked, by type, in "
        "Krippendorff's form of 2004.",
        sources=("krippendorff2004",),
    ),
    Term(
        "gamma",
        "gamma",
        "1 less observed over expected disorder of the best alignment of all annotators' units, by their places and "
        "types together.",
        sources=("mathet2015",),
    ),
    _method(
        ECE,
        "The mean distance between the mean score and the precision of the predictions in a bin of scores.",
        "naeini2015",
    ),
    _method(MCE, "The largest distance between the mean score and the precision of a bin of scores.", "naeini2015"),
    _method(BRIER, "The mean squared distance between the score of a prediction and its credit.", "brier1950"),
    _method(EQUAL_MASS, "Bins of scores that hold a tenth of the predictions each.", "nguyen2015"),
    _method(
        REFLECTED,
        "An interval of a calibration error, whose resamples are too large on average: their quantiles are reflected "
        "at the value.",
        "davison1997",
    ),
    _method(
        AREA,
        "The mean share of wrong predictions, over all thresholds that keep the predictions with the highest scores.",
        *("el-yaniv2010", "geifman2017", "geifman2019"),
    ),
)

METHODS: Mapping[str, Term] = MappingProxyType({term.code: term for term in _METHODS})
"""The methods of statistics that figures are made by."""
