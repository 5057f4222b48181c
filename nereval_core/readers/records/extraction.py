"""What a record says, by its shape: a text with tokens, and spans or tags."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, NamedTuple

from nereval_core.corpus import Documents
from nereval_core.corpus.builder import Builder
from nereval_core.problems import counted, quoted
from nereval_core.readers.records.paths import Visit, WrongPathError, leaf, walk
from nereval_core.readers.records.record_shape import RecordShape
from nereval_core.readers.shared.label_list import LabelList
from nereval_core.readers.shared.strict_json import Complain, id_string, json_type, score_number

Pair = tuple[int, int]
DEFAULT_SET = "default"
TREEBANK = {"``": '"', "''": '"', "-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
"""Quotation marks and brackets, as words of the Penn Treebank and in texts."""


class FaultError(Exception):
    """What keeps a record from being read: finding and remedy."""


@dataclass
class RecordText:
    """The text of a record: `tokens` are code points; `first` has the number of each sentence's first token.

    `tags` are those of its tokens, None where the record has none. `name` is that of gold's document, if the text is.
    """

    text: str
    tokens: list[Pair] = field(default_factory=list)
    first: list[int] = field(default_factory=lambda: [0])
    tags: list[Any] | None = None
    name: str | None = None

    def sentences(self) -> list[Pair]:
        """Return the bounds of sentences; nothing for a single one."""
        bounds = zip(self.first, [*self.first[1:], len(self.tokens)], strict=True)
        pairs = [(self.tokens[low][0], self.tokens[high - 1][1]) for low, high in bounds if low < high]
        return pairs if len(pairs) > 1 else []


class RecordSpan(NamedTuple):
    """A span of a record: its value, and who made it ("" where the shape does not say)."""

    layer: str
    visit: Visit


def visits(value: Any, paths: str) -> Iterator[Visit]:
    """Yield the values at the ends of paths with `|` between."""
    for path in paths.split("|"):
        yield from walk(value, path)


class Ordinal(NamedTuple):
    """The number of a record from 0, and how many there are."""

    number: int
    records: int


def text_of(record: Any, shape: RecordShape, name: str | None, gold: Documents | None, at: Ordinal) -> RecordText:
    """Return the text of a record, or that of gold's document of its name, or in its place where it has none.

    Raises:
        FaultError: there is none, or it is not what the shape has.
    """
    if shape.pieces:
        return _text_of_pieces(record, shape)
    if shape.words:
        return _text_of_words(record, shape)
    for path in filter(None, shape.text.split("|")):
        texts = [visit for visit in walk(record, path) if visit.value is not None]
        if len(texts) > 1:
            places = ", ".join(quoted(visit.place) for visit in texts)
            raise FaultError(
                f"several texts, {places}", "name one: --keys text=KEY,spans=KEY,start=KEY,end=KEY,label=KEY"
            )
        if texts:
            if isinstance(texts[0].value, str):
                return RecordText(texts[0].value)
            raise FaultError(f"{texts[0].place} is {json_type(texts[0].value)}", "write the text as a string")
    if gold is None:
        remedy = "score it against gold that has the text, or write the text that was sent beside it, under "
        raise FaultError("no text in it", remedy + (shape.text.partition("|")[0] or "text"))
    if name is None and at.records != len(gold):
        finding = f"{counted(at.records, 'record')} without text or id where gold has {counted(len(gold), 'document')}"
        raise FaultError(finding, "write the text beside each, under text")
    number = at.number if name is None else gold.index.get(name)
    if number is None or number >= len(gold):
        finding = f"no text, and the document {quoted(name or str(number))} is not among gold's"
        raise FaultError(finding, "give the id of gold's document, or its text under text")
    return RecordText(gold.texts[number], name=gold.ids[number])


def _text_of_words(record: Any, shape: RecordShape) -> RecordText:
    lists = [visit.value for visit in visits(record, shape.words)]
    if not lists:
        raise FaultError(f"no list of words under {shape.words.replace('.*', '')}", "write one string a token")
    for words in lists:
        if not isinstance(words, list) or not all(isinstance(word, str) and word for word in words):
            raise FaultError("words that are not strings with something in them", "write one string a token")
    flat = [word for words in lists for word in words]
    ends = [end - 1 for end in accumulate(len(word) + 1 for word in flat)]
    tokens = [(end - len(word), end) for end, word in zip(ends, flat, strict=True)]
    first = [0, *accumulate(map(len, lists))][:-1]
    return RecordText(" ".join(flat), tokens, first)


def _text_of_pieces(record: Any, shape: RecordShape) -> RecordText:
    """Return the text that pieces make at their places, or words with a blank between, found in the text beside."""
    groups = visits(record, shape.sentences) if shape.sentences else [Visit(record, {}, "")]
    word_key, start_key, end_key = shape.piece_keys
    own = leaf(record, shape.text) if shape.text else None
    text, before, at = "", 0, 0
    result = RecordText("", first=[], tags=[] if shape.tags else None)
    for group in groups:
        result.first.append(len(result.tokens))
        for piece in walk(group.value, shape.pieces, group.place):
            word = leaf(piece.value, word_key)
            if not isinstance(word, str) or not word:
                raise FaultError(f"{piece.place} has no text", f"write a string under {word_key.partition('.')[0]}")
            start = len(text) + bool(text)
            if start_key:
                low, high = leaf(piece.value, start_key), leaf(piece.value, end_key)
                if low is None or (type(low) is int and low < before):
                    # A word of a multiword token, which stands before it and has its place.
                    continue
                if type(low) is not int or type(high) is not int or high < low:
                    raise FaultError(f"{piece.place} has no place", f"write integers under {start_key} and {end_key}")
                if low - before > MOST_GAP:
                    raise FaultError(
                        f"{piece.place} is {low - before} characters behind the one before it", "check them"
                    )
                start, before = len(text) + low - before, high
            elif isinstance(own, str):
                start = own.find(word, at)
                if (start < 0 or own[at:start].strip()) and word in TREEBANK:
                    # Corpora made of the Penn Treebank have its signs as words, and those of the text in it.
                    start = own.find(TREEBANK[word], at)
                    word = TREEBANK[word]
                if start < 0 or own[at:start].strip():
                    raise FaultError(
                        f"{piece.place}, {quoted(word)}, is not the next word of the text", "export it again"
                    )
                at = start + len(word)
            text += " " * (start - len(text)) + word
            result.tokens.append((start, start + len(word)))
            if result.tags is not None:
                tag = leaf(piece.value, shape.tags)
                if not isinstance(tag, str):
                    raise FaultError(f"{piece.place} has no tag", f"write a string under {shape.tags}")
                result.tags.append(tag)
    if not result.tokens:
        raise FaultError("no text in it", "export it with its text")
    result.text = own if isinstance(own, str) else text
    return result


MOST_GAP = 1_000_000
"""The widest gap between two pieces of a text, in characters."""


def tags_of(record: Any, shape: RecordShape, text: RecordText, labels: LabelList | None) -> list[str]:
    """Return the tag of each token as a string.

    Raises:
        FaultError: there are none, other than one a token, or numbers without labels.
    """
    tags = text.tags if text.tags is not None else leaf(record, shape.tags)
    if not isinstance(tags, list) or len(tags) != len(text.tokens):
        count = counted(len(tags), "tag") if isinstance(tags, list) else "no list of tags"
        raise FaultError(f"{count} for {counted(len(text.tokens), 'token')}", "write one tag a token")
    if all(isinstance(tag, str) for tag in tags):
        return tags
    if not all(type(tag) is int for tag in tags):
        raise FaultError("tags that are neither all strings nor all integers", "write one kind")
    if labels is None or not all(0 <= tag < len(labels) for tag in tags):
        finding = "tags are numbers, and there is no list of labels" if labels is None else "a tag without a label"
        raise FaultError(finding, "give the list that the tags were made by: --labels O,B-PER,I-PER,…")
    return [labels.names[tag] for tag in tags]


def layers_of(record: Any, shape: RecordShape) -> dict[str, list[RecordSpan]]:
    """Return the spans of a record by layer, empty for a layer without any; one layer "" where the shape has none.

    Raises:
        WrongPathError: as `walk`.
    """
    if shape.seen:
        seen: dict[str, list[RecordSpan]] = {str(visit.value): [] for visit in visits(record, shape.seen)}
        for span in visits(record, shape.spans):
            for who in visits(span.value, shape.whose):
                seen.setdefault(str(who.value), []).append(RecordSpan(str(who.value), span))
        return seen or {"": [RecordSpan("", span) for span in visits(record, shape.spans)]}
    if shape.by:
        name = str(leaf(record, shape.by) or "")
        is_annotated = any(True for _ in visits(record, shape.spans.removesuffix(".*")))
        return {name: [RecordSpan(name, span) for span in visits(record, shape.spans)]} if is_annotated else {}
    if not shape.layers:
        return {"": [RecordSpan("", span) for span in visits(record, shape.spans)]}
    by_layer: dict[str, list[RecordSpan]] = {}
    for path in shape.layers:
        for container in walk(record, path):
            if container.value is None:
                continue
            annotator = container.roles.get("layer")
            # GATE's set without a name is its default one.
            name = DEFAULT_SET if annotator == "" else str(annotator or path.partition(".")[0])
            spans = _spans_of_container(container, shape.spans)
            if spans is not None:
                by_layer.setdefault(name, []).extend(RecordSpan(name, span) for span in spans)
    return by_layer


def _spans_of_container(container: Visit, path: str) -> list[Visit] | None:
    """Return the spans of what one annotator wrote, None where it is the answer to a question that is not of spans."""
    try:
        spans = list(walk(container.value, path, container.place, container.roles))
    except WrongPathError:
        return None
    return spans if all(isinstance(span.value, (dict, list)) for span in spans) else None


def type_of_span(span: Visit, shape: RecordShape) -> Any:
    """Return what says the type of a span: a string, or a list of several, which is empty where nobody chose one."""
    return span.roles.get("label", leaf(span.value, shape.label))


def add_span(span: Visit, shape: RecordShape, text: RecordText, builder: Builder, complain: Complain) -> None:
    """Add a span to the last document of a builder; what is wrong with it goes to `complain`."""
    value, roles, place = span
    names = type_of_span(span, shape)
    labels = names if isinstance(names, list) else [names]
    if not labels or not all(isinstance(name, str) and name for name in labels):
        complain(f"{place} has no type", f"write a string under {shape.label.partition('|')[0]}")
        return
    try:
        start, end, fragments = _place(value, shape, text, place)
    except FaultError as fault:
        complain(*fault.args)
        return
    quote = roles.get("quote", leaf(value, shape.quote) if shape.quote else None)
    if isinstance(quote, list):
        quote = " ".join(map(str, quote))
    links = tuple(str(visit.value) for visit in visits(value, shape.link) if visit.value) if shape.link else ()
    for name in labels:
        builder.span(
            start,
            end,
            name,
            quote=quote if isinstance(quote, str) else None,
            fragments=fragments,
            id=id_string(leaf(value, shape.span_id)) if shape.span_id and len(labels) == 1 else None,
            links=links,
            score=score_number(leaf(value, shape.score)) if shape.score else None,
        )


def _place(value: Any, shape: RecordShape, text: RecordText, place: str) -> tuple[int, int, tuple[Pair, ...]]:
    """Return start and end as they count, words as code points, and the fragments of a discontinuous span."""
    if shape.members:
        numbers = leaf(value, shape.members)
        if not isinstance(numbers, list) or not numbers or not all(type(number) is int for number in numbers):
            raise FaultError(f"{place} has no words", f"write a list of their numbers under {shape.members}")
        pairs = [(number, number + 1) for number in sorted(set(numbers))]
    elif shape.parts:
        parts = leaf(value, shape.parts)
        pairs = [tuple(part) for part in parts] if isinstance(parts, list) and all(map(_is_pair, parts)) else []
        if not pairs:
            raise FaultError(f"{place} has no place", f"write pairs of start and end under {shape.parts}")
    else:
        pairs = [_start_and_end(value, shape, place)]
    if text.tokens and not shape.pieces:
        base = _base(value, shape, text, place)
        count = len(text.tokens)
        inclusive = int(bool(shape.last))
        for low, high in pairs:
            if not 0 <= low < high + inclusive <= count - base:
                finding = f"{place} is words {low} to {high} of {counted(count - base, 'word')}"
                inside = "inside the span" if shape.last else "behind the span"
                raise FaultError(finding, f"count words from 0, the end {inside}")
        pairs = [(text.tokens[base + low][0], text.tokens[base + high + inclusive - 1][1]) for low, high in pairs]
    merged = _merged(pairs, text if shape.words else None)
    return merged[0][0], merged[-1][1], tuple(merged) if len(merged) > 1 else ()


def _start_and_end(value: Any, shape: RecordShape, place: str) -> Pair:
    end_key = shape.length or shape.last or shape.end
    start, end = leaf(value, shape.start), leaf(value, end_key)
    if shape.is_protobuf:
        start, end = _integer(start), _integer(end)
    if not end_key and type(start) is int and isinstance(quote := leaf(value, shape.quote), str):
        return start, start + len(quote)
    if type(start) is not int or type(end) is not int:
        keys = " and ".join(path.partition("|")[0] for path in (shape.start, end_key or shape.quote))
        raise FaultError(f"{place} has no place", f"write integers under {keys}")
    return start, start + end if shape.length else end


def _integer(value: Any) -> Any:
    """Return what protobuf's JSON has for an integer: 0 may be missing, and one of 64 bits is a string."""
    if isinstance(value, str) and value.isascii() and value.isdecimal():
        return int(value[:18])
    return 0 if value is None else value


def _base(value: Any, shape: RecordShape, text: RecordText, place: str) -> int:
    """Return the number of the word from which a span counts."""
    sentence = leaf(value, shape.sentence) if shape.sentence else 0
    if type(sentence) is not int or not 0 <= sentence < len(text.first):
        raise FaultError(f"{place} is in no sentence", f"write the number of one under {shape.sentence}")
    return text.first[sentence]


def _merged(pairs: Sequence[Pair], text: RecordText | None) -> list[Pair]:
    """Return fragments in their order, those of words that touch but for blanks as one."""
    merged = [pairs[0]]
    for low, high in sorted(pairs)[1:] if text is not None else pairs[1:]:
        if text is not None and not text.text[merged[-1][1] : low].strip():
            merged[-1] = (merged[-1][0], high)
        else:
            merged.append((low, high))
    return merged


def _is_pair(part: Any) -> bool:
    return isinstance(part, list) and len(part) == 2 and all(type(bound) is int for bound in part)


def labels_of_features(features: Any) -> Mapping[str, Any]:
    """Return the features of the datasets server, which are in a list, by their names."""
    listed = features if isinstance(features, list) else []
    return {"features": {entry.get("name"): entry.get("type") for entry in listed if isinstance(entry, dict)}}
