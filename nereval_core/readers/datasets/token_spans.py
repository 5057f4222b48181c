"""Rows of tokens with spans over them: GLiNER's training data, and SciERC and DyGIE.

`{"tokenized_text": ["Ann", "left"], "ner": [[0, 0, "PER"]]}` and `{"doc_key": "d1", "sentences": [["Ann", "left"]],
"ner": [[[0, 0, "PER"]]]}`: first and last token of a span, counted from 0 through the document, and its type. What
DyGIE++ adds to a span, its scores, ends with the probability, which is kept. The text is rebuilt: tokens joined by one
blank, sentences by a line end.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate, chain
from typing import Any

from nereval_core.corpus.builder import Builder
from nereval_core.problems import FormatError, Problem, counted, either_option
from nereval_core.readers.input.source import Source, SourceFile, unread_files_note
from nereval_core.readers.read_settings import Reading, ReadOptions
from nereval_core.readers.shared.strict_json import id_string, items, score_number
from nereval_core.readers.shared.tag_cells import SHOWN_TYPES, TagColumn, choice_problem

WORDS, SENTENCES, SPANS, IDS = "tokenized_text", "sentences", "ner", ("doc_key", "id")
PREDICTED = f"predicted_{SPANS}"
SAMPLE_ROWS = 50
"""The rows that say which keys hold spans."""
PROBABILITY = 4
"""The place of the probability among what DyGIE++ says of a span."""


def has_token_spans(keys: Collection[str]) -> bool:
    """Return whether an object with these keys is a row of tokens with spans."""
    return (WORDS in keys or SENTENCES in keys) and (SPANS in keys or PREDICTED in keys)


def read_token_spans(source: Source, files: Sequence[SourceFile], options: ReadOptions, format: str) -> Reading:
    """Read a document a row; `options.column` names the key of the spans, such as `predicted_ner`.

    Raises:
        FormatError: with every problem found: no tokens, entries that are not spans or lie outside the tokens.
    """
    builder = Builder(source.name)
    for file in files:
        rows = list(items(file, builder.problems))
        choices = span_choices([row for _, row in rows[:SAMPLE_ROWS] if isinstance(row, dict)])
        if options.column is None and len(choices) > 1:
            builder.problems.append(choice_problem(file.shown, None, choices, "keys hold spans"))
            continue
        key = str(options.column or next((column.number for column in choices), SPANS))
        for line, row in rows:
            problem = _problem(row, key)
            if problem is not None:
                builder.problems.append(Problem(file.shown, line, *problem))
                continue
            _add(row, key, line, file.shown, builder)
    if builder.problems:
        raise FormatError(builder.problems)
    layer = builder.finish(options.name or source.label)
    return Reading(layer.documents, layer, format, tuple(unread_files_note(source, files)), places=builder.places)


def span_choices(rows: Sequence[Mapping[str, Any]]) -> tuple[TagColumn, ...]:
    """Return the keys that hold spans in rows, without those that hold nothing in any but may be predictions."""
    types: dict[str, dict[str, None]] = {}
    for row in rows:
        for key in row.keys() - {WORDS, SENTENCES}:
            # DyGIE++ writes an empty list a sentence for whatever a corpus does not have, such as relations.
            if _problem(row, key) is None and (key == PREDICTED or _spans(row, key)):
                types.setdefault(key, {}).update(dict.fromkeys(span[2] for span in _spans(row, key)))
    keys = [key for key in dict.fromkeys(key for row in rows for key in row) if key in types]
    return tuple(TagColumn(key, tuple(types[key])[:SHOWN_TYPES]) for key in keys)


def _problem(row: Any, key: str) -> tuple[str, str] | None:
    """Return the problem of a row, finding and remedy; None for a correct row."""
    content = row if isinstance(row, dict) else {}
    sentences = [content[WORDS]] if WORDS in content else content.get(SENTENCES)
    if not isinstance(sentences, list) or not all(_are_words(words) for words in sentences):
        return f"no list of words under {WORDS} or {SENTENCES}", "write one string a token"
    if not isinstance(content.get(key), list):
        others = [name for name, spans in content.items() if isinstance(spans, list) and _are_spans(content, name)]
        remedy = "write first token, last token and type of each"
        remedy += f", or name the key: {either_option('--column', others)}" if others else ""
        return f"no list of spans under {key}", remedy
    tokens = sum(map(len, sentences))
    for at, span in enumerate(_spans(content, key)):
        if not _is_span(span):
            return f"{key}[{at}] is not a span", "write first token, last token and type"
        if not isinstance(span[2], str):
            return f"{key}[{at}] has no type", "write a string"
        if not 0 <= span[0] <= span[1] < tokens:
            total = f"there {'is' if tokens == 1 else 'are'} {counted(tokens, 'token')}"
            remedy = "count tokens from 0 through the document, the last one inclusive"
            return f"{key}[{at}] is [{span[0]}, {span[1]}], and {total}", remedy
    return None


def _are_words(words: Any) -> bool:
    return isinstance(words, list) and all(isinstance(word, str) and word for word in words)


def _is_span(span: Any) -> bool:
    return isinstance(span, list) and len(span) > 2 and type(span[0]) is type(span[1]) is int


def _are_spans(row: Mapping[str, Any], key: str) -> bool:
    spans = _spans(row, key)
    return bool(spans) and all(map(_is_span, spans))


def _spans(row: Mapping[str, Any], key: str) -> list[Any]:
    """Return the spans of a row, which stand by sentence where the tokens do."""
    if WORDS in row:
        return list(row[key])
    return list(chain.from_iterable(spans if isinstance(spans, list) else [spans] for spans in row[key]))


def _add(row: Mapping[str, Any], key: str, line: int, file_name: str, builder: Builder) -> None:
    sentences = [row[WORDS]] if WORDS in row else row[SENTENCES]
    words = list(chain.from_iterable(sentences))
    ends = [end - 1 for end in accumulate(len(word) + 1 for word in words)]
    tokens = [(end - len(word), end) for end, word in zip(ends, words, strict=True)]
    last = list(accumulate(map(len, sentences)))
    bounds = [
        (tokens[first][0], tokens[end - 1][1]) for first, end in zip([0, *last], last, strict=False) if end > first
    ]
    name = next((name for key in IDS if (name := id_string(row.get(key)))), None)
    text = "\n".join(" ".join(sentence) for sentence in sentences if sentence)
    builder.document(name, text, line=line, source=file_name, tokens=tokens, sentences=bounds)
    for span in _spans(row, key):
        score = score_number(span[PROBABILITY]) if len(span) > PROBABILITY else None
        builder.span(tokens[span[0]][0], tokens[span[1]][1], span[2], score=score)
