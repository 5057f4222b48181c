"""Methods of statistics that figures are made by: a sentence and the works of each, for pages and the Guide."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from nereval_core.tables.glossary import Term

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
