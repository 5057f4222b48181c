"""Objects of other libraries as lists of spans or tags; each is known by what it offers, and nothing is imported.

- `pandas.DataFrame`, known by `columns` and `itertuples`: a row a span, by the column of document ids; a row without
  start and end is a document without a span. Columns are found by the names that CSV files have.
- `datasets.Dataset`, known by `features` and `column_names`: a document a row, of tokens and tags (numbers too), or of
  a text and its entities.
- lists of spaCy's `Doc`, known by `ents`, or of its `Example`, which has both sides; lists with a list of its `Span`,
  known by `start_char`, for each document.
- lists with a list of the entities of a transformers pipeline or of GLiNER for each document, known by their keys;
  their scores are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal

from nereval_core.corpus import Documents, Intervals
from nereval_core.problems import FormatError, Problem, ProblemList, counted, quoted
from nereval_core.readers.datasets import TOKENS
from nereval_core.readers.pipeline import LISTS, TYPES, TaggedEntity, join_pieces, read_entity
from nereval_core.readers.shared.annotation_keys import SAMPLED_RECORDS, types_of_value
from nereval_core.readers.shared.label_list import TAGS
from nereval_core.readers.shared.table_columns import COLUMNS, find_columns, usual_names
from nereval_core.readers.shared.tag_cells import is_named_like_prediction

Side = Literal["gold", "prediction"]
PLAIN_KEYS = {"start", "end", "label"}
ENTITY_KEYS = {*PLAIN_KEYS, *TYPES, "score", "word", "text", "index"}
"""The keys of entities; dicts with others are read as they are, and refused there."""


@dataclass(frozen=True)
class PlainLists:
    """A list of tuples (start, end, type), or of tags, for each document.

    `texts` are the documents' texts or lists of words, or documents; None where there are none. `ids` are the ids of
    the documents, None where they have none. `scores` are those of spans, by their place among all.
    """

    documents: Sequence[Sequence[Any]]
    texts: Documents | Sequence[str] | Sequence[Sequence[str]] | None = None
    ids: tuple[str, ...] | None = None
    scores: Mapping[int, float] = field(default_factory=dict)


def is_of_other_library(value: Any) -> bool:
    """Return whether `plain_lists` takes this."""
    return _kind(value) is not None


def plain_lists(
    value: Any, name: str, side: Side, like: Documents | None = None, columns: Mapping[str, str] | None = None
) -> PlainLists | None:
    """Return the lists that an object of another library stands for, None for any other object.

    A frame of predictions has the documents of gold (`like`), in their order; `columns` names its columns.

    Raises:
        FormatError: with every problem found, under `name`.
    """
    kind = _kind(value)
    if kind is _frame:
        return _frame(value, name, like, columns or {})
    return None if kind is None else kind(value, name, side)


def _kind(value: Any) -> Callable[..., PlainLists] | None:
    if hasattr(value, "itertuples") and hasattr(value, "columns"):
        return _frame
    if hasattr(value, "column_names") and hasattr(value, "features"):
        return _data_set
    if not isinstance(value, (list, tuple)) or not value:
        return None
    if any(hasattr(value[0], key) for key in ("ents", "predicted")):
        return _docs
    if not all(isinstance(spans, (list, tuple)) for spans in value):
        return None
    first = next((span for spans in value for span in spans), None)
    if hasattr(first, "start_char"):
        return _spans
    if isinstance(first, Mapping) and first.keys() - PLAIN_KEYS and not first.keys() - ENTITY_KEYS:
        return _entities
    return None


def _docs(examples: Sequence[Any], name: str, side: Side) -> PlainLists:
    """Return the entities of spaCy's Docs, of Examples those of the side."""
    attribute = "reference" if side == "gold" else "predicted"
    docs = [getattr(example, attribute, example) for example in examples]
    _refuse(
        Problem(f"{name}[{number}]", None, f"a {type(doc).__name__} among Docs", "give a list of Docs or of Examples")
        for number, doc in enumerate(docs)
        if not hasattr(doc, "ents")
    )
    tokens = [[(token.idx, token.idx + len(token.text)) for token in doc if not token.is_space] for doc in docs]
    documents = Documents(
        tuple(map(str, range(len(docs)))), tuple(doc.text for doc in docs), Intervals.of(tokens), named=False
    )
    return PlainLists([_places(doc.ents) for doc in docs], documents)


def _spans(spans_of_documents: Sequence[Sequence[Any]], name: str, side: Side) -> PlainLists:
    return PlainLists([_places(spans) for spans in spans_of_documents])


def _places(spans: Iterable[Any]) -> list[tuple[int, int, str]]:
    return [(span.start_char, span.end_char, span.label_) for span in spans]


def _entities(entities_of_documents: Sequence[Sequence[Any]], name: str, side: Side) -> PlainLists:
    """Return entities as `pipeline` reads them from files: pieces of a word are joined, O is left out."""
    problems = ProblemList()
    documents: list[list[tuple[int, int, str]]] = []
    scores: dict[int, float] = {}
    spans = 0
    for number, items in enumerate(entities_of_documents):
        entities: list[TaggedEntity] = []
        for at, item in enumerate(items):

            def complain(finding: str, remedy: str, place: str = f"{name}[{number}][{at}]") -> None:
                problems.append(Problem(place, None, finding, remedy))

            entity = read_entity(_with_plain_numbers(item), "this", complain)
            if entity is not None and not (entity.tagged and entity.label == "O"):
                entities.append(entity)
        documents.append([])
        for pieces in join_pieces(entities):
            documents[-1].append((pieces[0].start, pieces[-1].end, pieces[0].label))
            piece_scores = [piece.score for piece in pieces if piece.score is not None]
            if piece_scores:
                scores[spans] = sum(piece_scores) / len(piece_scores)
            spans += 1
    _refuse(problems)
    return PlainLists(documents, scores=scores)


def _with_plain_numbers(entity: Any) -> Any:
    """Return an entity with numbers of Python where they are numpy's."""
    if not isinstance(entity, Mapping):
        return entity
    return {key: value.item() if hasattr(value, "item") else value for key, value in entity.items()}


def _data_set(data: Any, name: str, side: Side) -> PlainLists:
    """Return the rows of a data set: tokens and tags, or texts and entities."""
    names = set(data.column_names)
    tokens, tags, entities = (
        next((key for key in keys if key in names), None) for keys in (TOKENS, TAGS, (*LISTS, "spans"))
    )
    has_tags = tokens is not None and tags is not None
    _refuse(_rival_columns(data, {tokens, tags if has_tags else entities}, name))
    ids = tuple(map(str, data["id"])) if "id" in names else None
    if ids is not None and len(set(ids)) < len(ids):
        ids = None
    if tokens is not None and tags is not None:
        words = [list(row) for row in data[tokens]]
        labels = getattr(getattr(data.features[tags], "feature", None), "names", None)
        return PlainLists(tags_of_numbers([list(row) for row in data[tags]], labels, name), words, ids)
    if "text" in names and entities is not None:
        lists = _entities([_rows(row) for row in data[entities]], name, side)
        return PlainLists(lists.documents, list(data["text"]), ids, lists.scores)
    present = ", ".join(map(quoted, data.column_names))
    remedy = f"call tokens one of {', '.join(TOKENS)} and tags one of {', '.join(TAGS)}, or give text and entities"
    raise FormatError.single(name, None, f"a data set with the columns {present}", remedy)


def _rival_columns(data: Any, columns_read: Collection[str | None], name: str) -> Iterator[Problem]:
    """Yield a problem where a data set has further columns of annotations, or of numbers called like a prediction."""
    for column in data.column_names:
        if column in columns_read:
            continue
        values = list(islice(data[column], SAMPLED_RECORDS))
        numbers = is_named_like_prediction(column) and any(isinstance(value, (list, dict)) for value in values)
        if numbers or any(types_of_value(value) is not None for value in values):
            own = next((key for key in (*TAGS, *LISTS, "spans") if key in columns_read), column)
            remedy = f"give the data set without the other, data.remove_columns({column!r}) or ({own!r})"
            yield Problem(name, None, f"2 columns hold annotations, {quoted(own)} and {quoted(column)}", remedy)


def _rows(entities: Any) -> list[Any]:
    """Return the entities of a row, which data sets may hold as a dict of lists."""
    if isinstance(entities, Mapping):
        return [dict(zip(entities, values, strict=True)) for values in zip(*entities.values(), strict=True)]
    return list(entities)


def tags_of_numbers(
    documents: Sequence[Sequence[Any]], labels: Sequence[str] | None, name: str
) -> Sequence[Sequence[Any]]:
    """Return tags by the list of labels in which they are places, counted from 0; without a list as they are.

    Raises:
        FormatError: numbers, and no list, or one that is shorter.
    """
    if labels is None:
        return documents
    _refuse(
        Problem(
            f"{name}[{number}][{at}]",
            None,
            f"{tag!r} is not a place in a list of {counted(len(labels), 'label')}",
            f"give whole numbers from 0 to {len(labels) - 1}, or the list that the tags were made by",
        )
        for number, tags in enumerate(documents)
        for at, tag in enumerate(tags)
        if not (isinstance(tag, int) or hasattr(tag, "__index__")) or not 0 <= tag < len(labels)
    )
    return [[labels[tag] for tag in tags] for tags in documents]


def _frame(frame: Any, name: str, like: Documents | None, columns: Mapping[str, str]) -> PlainLists:
    """Return the spans of a data frame by document: those of `like`, or in the order of their first rows."""
    header = [str(column) for column in frame.columns]
    if unused := sorted(set(columns) - set(COLUMNS)):
        finding = f"a column is named for {', '.join(unused)}"
        raise FormatError.single(name, None, finding, f"name those for {', '.join(COLUMNS)}")
    places = find_columns(header, columns)
    needed = dict.fromkeys((*columns, "document", "start", "end", "type"))
    if lacking := [what for what in needed if what not in places]:
        present = ", ".join(map(quoted, header))
        remedy = f"{'; '.join(map(usual_names, lacking))}; or read_objects(…, columns={{{lacking[0]!r}: NAME}})"
        raise FormatError.single(name, None, f"no column for {', '.join(lacking)} among {present}", remedy)
    column = {what: frame.iloc[:, at].tolist() for what, at in places.items()}
    ids = list(map(str, column["document"]))
    order = {id: number for number, id in enumerate(like.ids if like is not None else dict.fromkeys(ids))}
    spans: list[list[tuple[Any, ...]]] = [[] for _ in order]
    texts: list[str | None] = [None] * len(order)
    problems = ProblemList()
    rows = zip(ids, column["start"], column["end"], column["type"], column.get("score", [None] * len(ids)), strict=True)
    for row, (id, start, end, label, score) in enumerate(rows):
        if id not in order:
            remedy = "give gold a row with this id, without start and end where it has no span"
            problems.append(Problem(f"{name}, row {row}", None, f"the document {quoted(id)} is not in gold", remedy))
            continue
        if "text" in column and texts[order[id]] is None:
            texts[order[id]] = str(column["text"][row])
        if start == start and start is not None:
            spans[order[id]].append((_whole(start), _whole(end), label, score))
    _refuse(problems)
    flat = [span for of_document in spans for span in of_document]
    return PlainLists(
        [[span[:3] for span in of_document] for of_document in spans],
        Documents(tuple(order), tuple(map(str, texts))) if "text" in column and None not in texts else None,
        tuple(order),
        {at: float(span[3]) for at, span in enumerate(flat) if span[3] is not None and span[3] == span[3]},
    )


def _whole(value: Any) -> Any:
    """Return a whole number as an integer: a column with an empty cell has fractions."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _refuse(problems: Iterable[Problem]) -> None:
    """Raise a FormatError with these problems where there are some."""
    if listed := list(problems):
        raise FormatError(listed)
