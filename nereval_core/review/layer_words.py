"""Words for the two sides of a comparison: gold and prediction, or the names of two layers. No Streamlit in here.

Where all layers are annotators', none is gold and none a system: one is the reference, because a table needs rows and
columns, and every decision is named after the two. So it is where another layer has gold's place: the word would mean
two layers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nereval_core.analysis.criteria.gap import OVERLAPPED, WHOLLY
from nereval_core.analysis.errors import LIKE
from nereval_core.analysis.errors.error_groups import GroupKey
from nereval_core.analysis.errors.group_words import Annotators, Phrase, group_phrases
from nereval_core.problems import name_text
from nereval_core.records.queries import BETWEEN, YES
from nereval_core.records.reasons import type_difference
from nereval_core.report.colours import LOOKS
from nereval_core.report.marks import USUAL_WORDS, SideWords
from nereval_core.review.verdicts import KINDS, Key, Kind, Marked, kinds_between
from nereval_core.review.words import MEANING, WITHOUT_PARTNER, WORDS, meaning
from nereval_core.tables import Column
from nereval_core.tables.glossary import DECISIONS, GLOSSARY, tooltip

GOLD_NAME = "gold"
_COUNTS = {
    "COR": "agree",
    "INC": "differ",
    "PAR": "partly agree",
    "MIS": "only {0}",
    "SPU": "only {1}",
    "POS": "all of {0}",
    "ACT": "all of {1}",
}
_RATIOS = {"P": "of {1}'s spans (P)", "R": "of {0}'s spans (R)"}
_TOOLTIPS = {
    "COR": "A span of {0} and one of {1} agree as the matching criterion asks.",
    "INC": "A span of {0} and one of {1} are aligned and differ more than the matching criterion allows.",
    "PAR": "A span of {0} and one of {1} are aligned and earn half a point for a near miss.",
    "MIS": "A span of {0} that is aligned with none of {1}.",
    "SPU": "A span of {1} that is aligned with none of {0}.",
    "POS": "All spans of {0}.",
    "ACT": "All spans of {1}.",
    "P": "The share of the spans of {1} on which {0} agrees.",
    "R": "The share of the spans of {0} on which {1} agrees.",
    "F1": "The spans on which both agree, counted twice, as a share of all spans of both.",
}
_CLASSES = {
    "missed": "only {0}",
    "spurious": "only {1}",
    "type only": "types differ",
    "boundary only": "boundaries differ",
    "type and boundary": "type and boundaries differ",
    "split": "several of {1} for one of {0}",
    "merged": "one of {1} for several of {0}",
}

_EFFECTS = (
    ("On a gold span", "On a span of {0}"),
    ("On a prediction without gold", "On a span that only {1} has"),
    ("Where nothing was predicted", "Where {1} has none"),
    ("The system saw", "{1} saw"),
    ("the gold span", "the span of {0}"),
    ("The gold span", "The span of {0}"),
    ("the prediction's", "{1}'s"),
    ("the prediction", "the span of {1}"),
    ("The prediction", "The span of {1}"),
    ("as gold says", "as {0} says"),
    ("in gold", "in a layer"),
    ("to gold", "to the layer"),
)
"""Parts of the sentences about verdicts, and how they name annotators."""


_NOUNS = ("span", "spans", "type", "types", "text")
_NAMED_SIDES = {
    **{f"gold {noun}": f"{noun} of {{0}}" for noun in _NOUNS},
    **{f"predicted {noun}": f"{noun} of {{1}}" for noun in _NOUNS},
    **{"prediction": "span of {1}", "predictions": "spans of {1}", "predicted": "{1}"},
    **{f"{word} gold": f"{word} {{0}}" for word in ("in", "of", "against", "from")},
    **{f"{word} gold {noun}": f"{word} {noun} of {{0}}" for word in ("in", "of", "against") for noun in _NOUNS},
    **{"gold's": "{0}'s", "gold alone": "{0} alone", "missed gold spans": "spans that only {0} has"},
    **{"spurious predictions": "spans that only {1} has", "it is predicted": "{1} has it too"},
}
"""Words about gold and a system's spans in sentences and titles, and how they name two layers."""
_SIDES = re.compile(
    rf"(?<![\w-])({'|'.join(sorted(_NAMED_SIDES, key=len, reverse=True))})(?![\w-])",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class LayerWords:
    """Names of the reference and of the layer that is compared with it, and the words made of them.

    `annotators`: all layers are annotators', none is gold. Sides are called `gold`, and `pred` or `prediction`,
    whoever made the layers.
    """

    reference: str = GOLD_NAME
    other: str = "prediction"
    annotators: bool = False

    @property
    def by_name(self) -> bool:
        """Whether layers have their own names: none is gold, or another one stands in its place."""
        return self.annotators or self.reference != GOLD_NAME

    def side(self, side: str) -> str:
        """Return the name of a side."""
        return self.reference if side == "gold" else self.other

    def of_side(self, noun: str, side: str) -> str:
        """Return a noun with its side: `gold type` and `predicted type`, or `type of anna`."""
        if self.by_name:
            return f"{noun} of {self.side(side)}"
        return f"{'gold' if side == 'gold' else 'predicted'} {noun}"

    def spans(self, side: str) -> str:
        """Return the name of the spans of a side: `gold spans` and `predictions`, or `spans of anna`."""
        if self.by_name:
            return self.of_side("spans", side)
        return "gold spans" if side == "gold" else "predictions"

    def name(self, code: str) -> str:
        """Return a decision or a count without its code: `missed`, or `only anna`."""
        return self._with_names(_COUNTS[code]) if self.by_name else GLOSSARY[code].name

    def label(self, code: str) -> str:
        """Return a decision, a count or a ratio as it is listed: `missed (MIS)`, or `only anna`."""
        named = (_COUNTS | _RATIOS).get(code) if self.by_name else None
        return GLOSSARY[code].label if named is None else self._with_names(named)

    def heading(self, column: Column) -> str:
        """Return the heading of a column: where annotators are compared, their names stand for gold and system."""
        if not self.by_name:
            return column.label
        side, _, what = column.key.partition("_")
        if side in ("gold", "pred") and what:
            return f"{self.side(side)}: {self.name(what)}" if what in _COUNTS else self.of_side(what, side)
        if column.key == "system":
            return "annotator" if self.annotators else column.label
        return self.label(column.term) if column.label == column.term else self.by_names(column.label)

    def with_glyph(self, code: str) -> str:
        """Return a decision as it is listed, after its glyph."""
        return f"{LOOKS[code].glyph} {self.label(code)}"

    def tooltip(self, code: str) -> str:
        """Return the meaning of a decision, a count or a ratio."""
        if not self.by_name or code not in _TOOLTIPS:
            return tooltip(code)
        return f"{self.label(code)}: {self.meaning_of(code)}"

    def meaning_of(self, code: str) -> str:
        """Return the sentences on a decision, a count, a ratio or a class of errors, without its name."""
        if self.by_name and code in _TOOLTIPS:
            return self._with_names(_TOOLTIPS[code])
        return self.by_names(GLOSSARY[code].sentence)

    def error_class(self, name: str) -> str:
        """Return the name of a class of errors: `missed`, or `only anna`."""
        return self._with_names(_CLASSES.get(name, name)) if self.by_name else name

    def cell(self, text: str, column: Column) -> str:
        """Return the text of a cell: classes of errors and titles of slicings have the layers' names, where used."""
        if column.key == "class":
            return self.error_class(text)
        return self.by_names(text) if column.key in ("by", "and_by") else text

    def pattern(self, key: GroupKey, quote: str = "") -> list[Phrase]:
        """Return the sentence on a pattern of errors, by the names of annotators where two are compared."""
        return group_phrases(key, quote, Annotators(self.reference, self.other) if self.by_name else None)

    def condition(self, name: str, value: str) -> str:
        """Return a condition on an attribute of records, as a filter is called."""
        word, _, argument = name.partition(" ")
        key = GroupKey.of(argument) if word == LIKE else None
        if key is not None:
            return "".join(phrase.text for phrase in self.pattern(key))
        # Conditions on the credit under another criterion.
        strict, _, loose = argument.partition(BETWEEN)
        under = f" under {loose}" if loose else ""
        if word == "credit":
            return (
                f"same credit{under} as under {strict}"
                if value == "same"
                else f"{value} credit{under} than under {strict}"
            )
        if word == "changed" and value == YES:
            return f"another credit{under} than under {strict}"
        if word == "recovered":
            return value if value in (OVERLAPPED, WHOLLY) else f"first credited by {value}"
        if word in ("gap", "forgiven"):
            return f"{strict} to {loose}: {value}" if loose else f"against {strict}: {value}"
        return f"{name}: {value}"

    def reason(self, reason: str, gold_type: object, pred_type: object) -> str:
        """Return why a record was decided so; of annotators by name, from the reason and the types of both sides."""
        if not self.by_name:
            return reason
        if isinstance(gold_type, str) and isinstance(pred_type, str):
            moved = reason.removesuffix(type_difference(gold_type, pred_type))
            shifts = [part for part in moved.split("; ") if part]
            named = [f"{self.other} {part}" if part.startswith(("starts ", "ends ")) else part for part in shifts]
            return "; ".join(
                [f"types differ: {name_text(gold_type)} / {name_text(pred_type)}", *named] if moved != reason else named
            )
        lacks = self.other if isinstance(gold_type, str) else self.reference
        if reason.startswith("no "):
            return f"{lacks} has no span here"
        return f"each span of {lacks} here is aligned elsewhere" if reason.startswith("every ") else reason

    @property
    def of_slides(self) -> SideWords:
        """Names of sides, spans and decisions, for texts and slides that are made as HTML."""
        if not self.by_name:
            return USUAL_WORDS
        spans = tuple(self.of_side("span", side) for side in ("gold", "pred"))
        return SideWords(
            self.reference, self.other, (spans[0], spans[1]), {code: self.label(code) for code in DECISIONS}
        )

    def by_names(self, text: str) -> str:
        """Return a text of ours about gold and predictions with the names of the layers where these are used.

        It is made of our own words; what it quotes may hold no words such as `gold span`.
        """
        return _SIDES.sub(self._named_side, text) if self.by_name else text

    def _named_side(self, match: re.Match[str]) -> str:
        words = match[0]
        named = self._with_names(_NAMED_SIDES[words.lower()])
        return named[0].upper() + named[1:] if words[0].isupper() and named[0] in "ts" else named

    @property
    def error_noun(self) -> str:
        """What a record is called on which the layers differ: an error, but between annotators a disagreement."""
        return "disagreement" if self.by_name else "error"

    @property
    def verdicts(self) -> Mapping[Kind, str]:
        """Each verdict in words: `gold is right`, or `anna is right`."""
        if not self.by_name:
            return KINDS
        return kinds_between(self.reference, self.other)

    @property
    def verdict_words(self) -> Mapping[str, str]:
        """One word for each verdict, for narrow columns."""
        return {**WORDS, "gold": self.reference, "pred": self.other} if self.by_name else WORDS

    def meaning(self, kind: Kind, key: Key, partner: Marked | None) -> str:
        """Return a sentence on the effect of a verdict on the reference."""
        return self._effect(meaning(kind, key, partner))

    def batch_effect(self, kind: Kind) -> str:
        """Return the effect of one verdict for many records, where neither is right if there is no entity."""
        gold = MEANING["gold"][kind] if kind != "neither" else "The gold span goes: there is no entity."
        pred = MEANING["pred"][kind] if kind != "neither" else "Nothing changes: there is no entity."
        gold += " One of another type, or in pieces, is added beside it." if kind == "both" else ""
        lone = f" Where nothing was predicted: {WITHOUT_PARTNER[kind]}" if kind in WITHOUT_PARTNER else ""
        return self._effect(f"On a gold span: {gold}{lone} On a prediction without gold: {pred}")

    def _effect(self, text: str) -> str:
        """Return a text about the effect of verdicts, made of the words of gold and prediction alone, by name."""
        for usual, named in _EFFECTS if self.by_name else ():
            text = text.replace(usual, self._with_names(named))
        return text

    def _with_names(self, pattern: str) -> str:
        return pattern.replace("{1}", self.other).replace("{0}", self.reference)


GOLD_AND_PREDICTION = LayerWords()
"""The words where a layer is gold and the other a system's."""


def figure_by_names(figure: Any, words: LayerWords) -> Any:
    """Return a figure whose titles, legend and tooltips call both sides by the names of their layers, where used."""
    if not words.by_name:
        return figure
    from nereval_core.report.figures.parts import copied

    named = copied(figure)
    named.update_layout(title_text=words.by_names(figure.layout.title.text or ""))
    for axes in (named.select_xaxes(), named.select_yaxes()):
        for axis in axes:
            if axis.title.text:
                axis.title.text = words.by_names(axis.title.text)
    for trace in named.data:
        if trace.name:
            trace.name = words.by_names(trace.name)
        for key in ("hovertext", "text"):
            lines = getattr(trace, key, None)
            if isinstance(lines, list | tuple):
                trace[key] = [words.by_names(line) if isinstance(line, str) else line for line in lines]
    return named
