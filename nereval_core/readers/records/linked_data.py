"""Annotations of linked data as records: W3C's Web Annotation, DBpedia Spotlight's answers and NIF as JSON-LD."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from nereval_core.readers.shared.strict_json import id_string

ENTITY = "entity"
LAST_PART = re.compile(r"[^/#:]+$")
PLACE = re.compile(r"[#?](?:char=|offset_)[0-9]*[,_][0-9]*$")
PARTS = frozenset(("Word", "Sentence", "Paragraph", "Section", "Title", "Structure"))
"""Kinds of strings of NIF that structure a text."""
GENERAL = frozenset(("Thing", "Entity"))
INTEGER = re.compile(r"[0-9]{1,12}")
POSITION, QUOTE = "TextPositionSelector", "TextQuoteSelector"


def _objects(value: Any) -> list[Mapping[str, Any]]:
    """Return the objects of a value that may be one or a list of them."""
    return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, Mapping)]


def record_of_annotation(annotation: Any) -> Any:
    """Return a Web Annotation as a span with its `document`: types are its tags, else the values of its bodies."""
    if not isinstance(annotation, Mapping):
        return annotation
    target = next(iter(_objects(annotation.get("target"))), {})
    selectors = {selector.get("type"): selector for selector in _objects(target.get("selector"))}
    bodies = [body for body in _objects(annotation.get("body")) if isinstance(body.get("value"), str)]
    tags = [body["value"] for body in bodies if body.get("purpose") in ("tagging", "classifying")]
    position = selectors.get(POSITION, {})
    return {
        "document": id_string(target.get("source", annotation.get("uri"))),
        "start": position.get("start"),
        "end": position.get("end"),
        "quote": selectors.get(QUOTE, {}).get("exact"),
        "label": tags or annotation.get("tags") or [body["value"] for body in bodies],
        "id": annotation.get("id"),
    }


def record_of_spotlight(answer: Any) -> Any:
    """Return an answer of DBpedia Spotlight with plain spans: its classes are many, so that the type is `entity`."""
    resources = answer.get("Resources") if isinstance(answer, Mapping) else None
    return {
        **(answer if isinstance(answer, Mapping) else {}),
        "Resources": [
            {**resource, "label": ENTITY, "@offset": _integer(resource.get("@offset"))}
            for resource in _objects(resources)
        ],
    }


def record_of_node(node: Any) -> Any:
    """Return a node of NIF's JSON-LD as a document's text, or as a span with its `document`; null for other nodes."""
    if not isinstance(node, Mapping):
        return node
    values = {_last_part(key): _plain_values(value) for key, value in node.items()}
    first = {key: next(iter(content), None) for key, content in values.items()}
    kinds = {_last_part(kind) for kind in values.get("type", ())}
    if first.get("isString") is not None:
        return {"document": PLACE.sub("", str(first.get("id"))), "text": first["isString"]}
    is_part = kinds & PARTS and not values.keys() & {"taIdentRef", "taClassRef"}
    if first.get("beginIndex") is None or "Context" in kinds or is_part:
        return None
    classes = [_last_part(kind) for kind in values.get("taClassRef", ())]
    return {
        "document": PLACE.sub("", first.get("referenceContext") or "") or None,
        "start": _integer(first["beginIndex"]),
        "end": _integer(first.get("endIndex")),
        "quote": first.get("anchorOf"),
        "label": next((name for name in classes if name not in GENERAL), (*classes, ENTITY)[0]),
        "links": values.get("taIdentRef"),
    }


def _integer(value: str | None) -> int | str | None:
    return int(value) if value is not None and INTEGER.fullmatch(value) else value


def _last_part(name: str) -> str:
    part = LAST_PART.search(name)
    return part[0].removeprefix("@") if part else name


def _plain_values(value: Any) -> list[str]:
    """Return the values under a key of JSON-LD as strings: of objects, what they hold or name."""
    items = value if isinstance(value, list) else [value]
    plain = [item.get("@value", item.get("@id")) if isinstance(item, Mapping) else item for item in items]
    return [str(item) for item in plain if item is not None]
