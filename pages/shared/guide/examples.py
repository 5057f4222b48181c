"""What the Guide shows of an example: the marked text, the counts under each criterion, each span's decisions."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from markupsafe import Markup

from nereval_core.glossary import DECISIONS
from nereval_core.records.tables import overall
from nereval_core.report.colours import LOOKS
from nereval_core.report.highlight import SIDES, document_html
from nereval_core.report.marks import marks
from nereval_core.scoring import Scores
from nereval_core.scoring.criteria import Decision
from nereval_core.scoring.examples import Example, decide

COLUMNS = {"precision": "P", "recall": "R", "f1": "F1"}


def example_html(example: Example, name: str) -> Markup:
    """Return an example's text with the decisions of a criterion."""
    scores = decide(example)
    return document_html(scores.gold.documents.texts[0], marks(scores, name, 0))


def counts(scores: Scores, names: Sequence[str]) -> pd.DataFrame:
    """Return COR, INC, PAR, MIS, SPU, P, R and F1 by criterion (the index)."""
    table = overall(scores).rename(columns=COLUMNS).set_index("criterion")
    return table.loc[list(names), [*DECISIONS, *COLUMNS.values()]]


def span_decisions(scores: Scores) -> pd.DataFrame:
    """Return one row a span (the index says which) and one column a criterion: `− MIS`, gold spans first.

    What is counted by token decides over no spans and has no column.
    """
    criteria = [criterion for criterion in scores.criteria if criterion.unit == "span"]
    rows: list[dict[str, str]] = []
    for place, (side, layer) in enumerate(zip(SIDES, (scores.gold, scores.pred), strict=True)):
        for span in range(len(layer)):
            row = {"span": f"{side}: {' '.join(layer.text(span).split())} ({layer.label(span)})"}
            for criterion in criteria:
                code = Decision(int(scores.decisions(criterion.name)[place][span])).name
                row[criterion.name] = f"{LOOKS[code].glyph} {code}"
            rows.append(row)
    return pd.DataFrame(rows, columns=["span", *(c.name for c in criteria)]).set_index("span")
