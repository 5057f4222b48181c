"""Spans that are named by their words alone, as W2NER's output has them, as numbers of words of their sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nereval_core.problems import quoted
from nereval_core.readers.records.paths import WrongPathError


def record_of_w2ner(record: Any) -> Any:
    """Return a record of W2NER's output with the numbers of the words of each entity, as its data have them.

    Raises:
        WrongPathError: an entity has no words, or they stand in several places or none.
    """
    words = record.get("sentence") if isinstance(record, Mapping) else None
    entities = record.get("entity") if isinstance(record, Mapping) else None
    if not isinstance(words, list) or not isinstance(entities, list):
        return record
    by_words: dict[tuple[Any, ...], list[Any]] = {}
    for at, entity in enumerate(entities):
        names = entity.get("text") if isinstance(entity, Mapping) else None
        if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
            raise WrongPathError(f"entity[{at}] has no words", "write a list of them under text")
        by_words.setdefault(tuple(names), []).append(entity)
    spans = [
        {"index": index, "type": entity.get("type")}
        for names, alike in by_words.items()
        for entity, index in zip(alike, _places(words, names, alike), strict=True)
    ]
    return {"ner": spans, **{key: value for key, value in record.items() if key != "entity"}}


def _places(words: Sequence[Any], names: Sequence[str], alike: Sequence[Mapping[str, Any]]) -> list[list[int]]:
    """Return the numbers of words for each of the entities with these words."""
    size = len(names)
    runs = [list(range(at, at + size)) for at in range(len(words) - size + 1) if tuple(words[at : at + size]) == names]
    if not runs:
        first, last = _in_order(words, names), _in_order(words[::-1], names[::-1])
        if not first:
            raise WrongPathError(
                f"{quoted(' '.join(names))} is not in its sentence", "write the words as they stand there"
            )
        runs = [first] if first == [len(words) - 1 - at for at in reversed(last)] else []
    types = {str(entity.get("type")) for entity in alike}
    if len(runs) == 1 and len(types) == len(alike):
        return runs * len(alike)
    if len(runs) == len(alike) and len(types) == 1:
        return runs
    finding = f"{quoted(' '.join(names))} stands in several places of its sentence, and nothing says which is meant"
    raise WrongPathError(finding, "write the numbers of the words, as W2NER's data have them: ner with index")


def _in_order(words: Sequence[Any], names: Sequence[str]) -> list[int]:
    """Return the first places of words in their order, perhaps with others between; empty where they are not there."""
    places: list[int] = []
    for name in names:
        start = places[-1] + 1 if places else 0
        at = next((at for at in range(start, len(words)) if words[at] == name), None)
        if at is None:
            return []
        places.append(at)
    return places
