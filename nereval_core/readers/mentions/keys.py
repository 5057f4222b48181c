"""Keys of answers, and words in them that are not mentions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from nereval_core.readers.mentions.responses import BATCH_KEYS, RESPONSE_KEYS

TEXT_KEYS = (
    *("text", "mention", "name", "entity", "span", "word", "value", "surface"),
    *("entity_name", "entity_text", "entity_value", "mention_text", "extraction_text", "phrase", "quote"),
)
TYPE_KEYS = (
    *("type", "label", "entity_type", "category", "class", "tag", "entity_group"),
    *("entity_label", "ner_type", "ner_tag", "extraction_class"),
)
LIST_KEYS = (
    *("entities", "mentions", "spans", "annotations", "ner", "named_entities", "result", "results", "output"),
    *("extractions", "entity_list", "predictions", "answers"),
)
ANSWER_KEYS = (
    *("answer", "response", "completion", "output", "content", "prediction", "generated_text", "result"),
    *("model_output", "model_response", "llm_output", "llm_response", "output_text", "raw_output", "final_answer"),
    *("predict", "pred", "hypothesis", "generation", "reply"),
)
ID_KEYS = ("custom_id", "id", "document", "document_id", "doc_id", "key")
"""Keys of a line that name its document; in batches `id` is that of the response."""
OTHER_KEYS = frozenset((*ID_KEYS, "text", "meta", "model", "prompt", "type", "usage", "created", "object", "error"))
"""Keys of a line that are not types."""
STRUCTURE = frozenset(
    (
        *LIST_KEYS,
        *ANSWER_KEYS,
        *(
            "id",
            "text",
            "type",
            "label",
            "mention",
            "entity",
            "sentence",
            "input",
            "json",
            "xml",
            *("tokens", "words", "tags", "labels", "ner_tags"),
        ),
    )
)
"""Names of keys and tags that are not types, unless gold has a type of this name."""
OUTSIDE_TYPES = frozenset(("o", "none", "null", "n/a", "not an entity", "no entity", "non-entity"))
NOTHING = frozenset(("none", "null", "n/a", "no entities", "none found", "not found", "not mentioned"))
"""Words of a mention that say that there is none, unless they stand in the text."""
ANSWER_MARKS = re.compile(r"[{\[<]|@@")
"""Beginnings of JSON and of tags."""
SPAN_KEYS = frozenset(("start", "end", "label"))
SIDE = re.compile(r"(?:gold|pred|hyp|system|output|model|answer|response)", re.IGNORECASE)
"""Beginnings of keys that name a side of a comparison, or a model."""
ATTRIBUTES = "_attributes"
"""The ending of keys under which LangExtract's models say more of a mention."""


def id_of_line(row: Any) -> Any:
    """Return the id that a line gives, None where it gives none."""
    return next((row[key] for key in ID_KEYS if key in row), None) if isinstance(row, Mapping) else None


def answer_keys(row: Any) -> list[str]:
    """Return the keys of a line that may hold its answer; several where gold or another answer stands beside it."""
    if not isinstance(row, Mapping) or not row.keys().isdisjoint(
        RESPONSE_KEYS.difference(ANSWER_KEYS).union(BATCH_KEYS)
    ):
        return []
    keys = [*ANSWER_KEYS, *LIST_KEYS, *(key for key in row if SIDE.match(str(key)))]
    return [key for key in dict.fromkeys(keys) if _may_be_answer(row.get(key))]


def _may_be_answer(value: Any) -> bool:
    if isinstance(value, str):
        return ANSWER_MARKS.search(value) is not None
    if not isinstance(value, list):
        return isinstance(value, Mapping) and bool(value)
    first = value[0] if value else None
    if isinstance(first, Mapping):
        # Spans with offsets alone are those of another format.
        return not set(TEXT_KEYS).isdisjoint(first) or SPAN_KEYS.isdisjoint(first)
    return isinstance(first, str) or (isinstance(first, list) and bool(first) and isinstance(first[0], str))
