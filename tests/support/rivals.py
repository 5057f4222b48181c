"""Files that are read, with a second column or key that looks like annotations: of one type that nothing else has."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

RIVAL = "RIVALTYPE"
NAMES = (
    "predictions",
    "pred_spans",
    "system_output",
    "entities2",
    "silver",
    "ner_auto",
    "hyp",
    "gold_entities",
    "ann2",
)
"""Names of rival keys and columns, like predictions' or not."""

Change = Callable[[str, random.Random], str]


def _spans(text: str) -> list[tuple[int, int, str]]:
    end = max(1, len(text.split()[0])) if text.split() else 1
    return [(0, end, text[:end])]


def _objects(text: str) -> list[dict[str, Any]]:
    return [{"start": start, "end": end, "label": RIVAL} for start, end, _ in _spans(text)]


def _quoted_objects(text: str) -> list[dict[str, Any]]:
    return [{"start": start, "end": end, "text": quote, "type": RIVAL} for start, end, quote in _spans(text)]


def _triples(text: str) -> list[list[Any]]:
    return [[start, end, RIVAL] for start, end, _ in _spans(text)]


SPANS = (_objects, _quoted_objects, _triples)


def with_rival_key(content: str, drawn: random.Random) -> str:
    """Return JSON in which each object with a text, or tokens, has a rival key."""
    name, shape = drawn.choice(NAMES), drawn.choice(SPANS)

    def changed(row: Any) -> Any:
        if isinstance(row, list):
            return [changed(one) for one in row]
        if not isinstance(row, dict):
            return row
        words = row.get("tokens", row.get("words"))
        if isinstance(words, list) and words and all(isinstance(word, str) for word in words):
            return {**row, name: [f"B-{RIVAL}", *["O"] * (len(words) - 1)]}
        if isinstance(row.get("text"), str) and row["text"]:
            return {**row, name: shape(row["text"])}
        return row

    try:
        return json.dumps(changed(json.loads(content)), ensure_ascii=False)
    except ValueError:
        if content.lstrip()[:1] not in ("{", "["):
            return content
        rows = [json.loads(line) for line in content.split("\n") if line.strip()]
        return "".join(json.dumps(changed(row), ensure_ascii=False) + "\n" for row in rows)


def _with_cells(content: str, sign: str, cells: Callable[[int, str], str | None]) -> str:
    """Return rows with one more cell; `cells` returns that of a row by its number, None for a line that is none."""
    lines = []
    for number, line in enumerate(content.split("\n")):
        cell = cells(number, line)
        lines.append(line if cell is None else f"{line}{sign}{cell}")
    return "\n".join(lines)


def with_rival_column(content: str, drawn: random.Random) -> str:
    """Return columns of tokens and tags with a column of rival tags behind."""
    form = drawn.choice((f"B-{RIVAL}", f"B_{RIVAL}", f"B-{RIVAL}/0.9", f"<B-{RIVAL}>"))
    sign = "\t" if "\t" in content else " "
    outside = "O/0.9" if form.endswith("0.9") else "O"
    return _with_cells(
        content,
        sign,
        lambda number, line: (form if number % 2 else outside) if line.strip() and line[0] not in "#-" else None,
    )


def with_rival_header(content: str, drawn: random.Random) -> str:
    """Return a table with a header and a rival column of tags, or of types."""
    name = drawn.choice(NAMES)
    sign = "\t" if "\t" in content.split("\n", 1)[0] else ","
    lettered = drawn.random() < 0.7

    def cell(number: int, line: str) -> str | None:
        if not line.strip() or line.startswith("#"):
            return None
        return name if number == 0 else f"B-{RIVAL}" if lettered or number % 2 else "O"

    return _with_cells(content, sign, cell)


def with_rival_misc(content: str, drawn: random.Random) -> str:
    """Return CoNLL-U with a rival key in MISC."""
    name = drawn.choice(("Pred", "NER2", "Silver", "NEpred"))
    lines = content.split("\n")
    return "\n".join(
        (line.removesuffix("_").rstrip("|") + ("|" if not line.endswith("_") else "") + f"{name}=B-{RIVAL}")
        if line.count("\t") == 9
        else line
        for line in lines
    )


CHANGES: Mapping[str, Sequence[Change]] = {
    "conll": (with_rival_column,),
    "tokentable": (with_rival_header,),
    "csv": (with_rival_header,),
    "hipe": (with_rival_header,),
    "conllu": (with_rival_misc,),
    **dict.fromkeys(
        ("jsonl", "doccano", "prodigy", "labelstudio", "datasets", "pipeline", "mentions", "pubannotation", "records"),
        (with_rival_key,),
    ),
}
"""The changes of a format's samples; the others have no room for a rival beside their annotations."""
