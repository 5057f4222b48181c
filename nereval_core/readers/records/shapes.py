"""The shapes of JSON records, a row each: where a text stands, where its spans do, and what their numbers count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nereval_core.problems import FormatError, quoted
from nereval_core.readers.input.file_text import Head
from nereval_core.readers.recognition.unread_shapes import KnownShape
from nereval_core.readers.shared.offset_units import Offsets

CODE_POINTS, UTF_16 = Offsets(), Offsets("UTF-16 units")
ROWS = "rows of the datasets server"


@dataclass(frozen=True)
class RecordShape(KnownShape):
    """A shape of records: all but `offsets` are paths (`paths`), "" for what the shape does not have.

    `records` leads from a value of the file to its records. A record has a `text`; or `words`, with a blank between; or
    `pieces`, each with its text, start and end under the three `piece_keys`, which make the text. Without any of them
    it is the text of gold's document of the same `id`, or in the same place. `sentences` of pieces is the way before
    them.

    `layers` lead from the record to what one annotator or model wrote, each called by what the way says of `layer`;
    spans stand below. `seen` names the annotators of a record, `whose` those of a span.

    `spans` lead to spans, whose values stand under `start` and `end` (exclusive), `last` (inclusive) or `length`, or
    else with the length of their quotes; or as pairs under `parts`, or as numbers of words under `members`. What the
    way to them says of `label` and `quote` counts first. Where the text is of words, all of these count words, from the
    first word of sentence `sentence` if there is one. `tags` are tags in place of spans: a list beside the words, or a
    key of each piece; `features` describe them.
    """

    records: str = ""
    id: str = "id"
    text: str = ""
    words: str = ""
    pieces: str = ""
    piece_keys: tuple[str, str, str] = ("", "", "")
    sentences: str = ""
    layers: tuple[str, ...] = ()
    seen: str = ""
    whose: str = ""
    spans: str = ""
    start: str = "start"
    end: str = "end"
    last: str = ""
    length: str = ""
    parts: str = ""
    members: str = ""
    label: str = "label"
    quote: str = ""
    score: str = ""
    span_id: str = ""
    link: str = ""
    sentence: str = ""
    tags: str = ""
    features: str = ""
    offsets: Offsets = CODE_POINTS

    def own_keys(self) -> frozenset[str]:
        """Return the keys of a record that the shape reads."""
        paths = (self.id, self.text, self.words, self.pieces, self.sentences, self.seen, self.spans, self.tags)
        first = [choice.partition(".")[0] for path in (*paths, *self.layers) for choice in path.split("|")]
        return frozenset(name for step in first for name in step.strip("{}").rpartition("=")[2].split(","))

    @property
    def counting(self) -> Offsets:
        """What offsets count, as the shape has it."""
        return self.offsets._replace(inclusive=bool(self.last) and not self.words)


def _shape(name: str, keys: str = "", pattern: str = "", absent: str = "", **paths: Any) -> RecordShape:
    """Return a row of the table: `keys` and `absent` are words with blanks between."""
    signs: dict[str, Any] = {"keys": frozenset(keys.split()), "absent": frozenset(absent.split()), "pattern": pattern}
    return RecordShape(name, **signs, **paths)


AZURE: dict[str, Any] = {
    "spans": "entities.*",
    "start": "offset",
    "length": "length",
    "label": "category",
    "quote": "text",
    "score": "confidenceScore",
    "text": "text",
}
BDOC: dict[str, Any] = {
    "id": "name",
    "text": "text",
    "layers": ("annotation_sets.{layer}",),
    "spans": "annotations.*",
    "label": "type",
}
SHAPES = (
    # Annotation tools.
    _shape(
        "Argilla's export (version 1)",
        "text annotation_agent",
        text="text",
        layers=("{layer=annotation,prediction}",),
        spans="*",
        start="start|1",
        end="end|2",
        label="label|0",
        score="score|3",
    ),
    _shape(
        "Argilla's export (version 2)",
        "fields responses",
        text="fields.text|fields.*",
        layers=("responses.{layer}.*(layer=user_id)", "suggestions.{layer}(layer=agent)"),
        spans="value.*",
    ),
    _shape(
        "LightTag's export",
        "examples",
        pattern='"example_id"',
        records="examples.*",
        id="example_id",
        text="content",
        seen="seen_by.*.annotator",
        whose="annotated_by.*.annotator",
        spans="annotations.*",
        label="tag",
        quote="value",
    ),
    _shape(
        "Dataturks' export",
        "content annotation",
        text="content",
        spans="annotation.*(label=label).points.*",
        end="",
        last="end",
        quote="text",
    ),
    _shape(
        "Labelbox's export",
        "data_row projects",
        id="data_row.external_id|data_row.global_key|data_row.id",
        text="data_row.row_data",
        layers=("projects.*.labels.*(layer=label_details.created_by)",),
        spans="annotations.objects.*",
        start="location.start",
        end="",
        last="location.end",
        label="name",
        quote="location.token",
    ),
    _shape(
        "UBIAI's export",
        "document tokens",
        pattern='"entityLabel"',
        id="documentName",
        text="document",
        spans="tokens.*",
        label="entityLabel",
        quote="text",
    ),
    _shape(
        "a file of the NER annotator (tecoholic)",
        "classes annotations",
        records="annotations.*",
        text="0",
        spans="1.entities.*",
        start="0",
        end="1",
        label="2",
    ),
    _shape(
        "training data of Rasa",
        "rasa_nlu_data",
        records="rasa_nlu_data.common_examples.*",
        text="text",
        spans="entities.*",
        label="entity",
        score="confidence_entity|confidence",
    ),
    _shape(
        "brat's JSON",
        "text entities",
        pattern=r'"entities"\s*:\s*\[\s*\[\s*"T\d+"\s*,\s*"[^"]*"\s*,\s*\[\s*\[',
        text="text",
        spans="entities.*",
        span_id="0",
        label="1",
        parts="2",
    ),
    _shape(
        "GATE's JSON",
        "text entities",
        pattern=r'"entities"\s*:\s*\{\s*"[^"]*"\s*:\s*\[\s*\{[^{}]*"indices"\s*:',
        text="text",
        spans="entities.{label}.*",
        start="indices.0",
        end="indices.1",
        offsets=UTF_16,
    ),
    _shape(
        "a document of GATE's Python library (bdocjs)",
        "annotation_sets text",
        pattern=r'"offset_type"\s*:\s*"j"',
        offsets=UTF_16,
        **BDOC,
    ),
    _shape("a document of GATE's Python library (bdocjs)", "annotation_sets text", **BDOC),
    # Services.
    _shape("an answer of Azure Language", "documents modelVersion", records="documents.*", **AZURE),
    _shape(
        "an answer of Azure Language", "kind results", pattern='"modelVersion"', records="results.documents.*", **AZURE
    ),
    _shape("an answer of a job of Azure Language", "jobId tasks", records="tasks.items.*.results.documents.*", **AZURE),
    _shape(
        "the output of a job of Amazon Comprehend",
        "Entities File",
        absent="Text text",
        id="",
        spans="Entities.*",
        start="BeginOffset",
        end="EndOffset",
        label="Type",
        quote="Text",
        score="Score",
    ),
    _shape(
        "an answer of Google Natural Language",
        "entities",
        absent="text",
        pattern='"beginOffset"',
        id="",
        spans="entities.*(label=type).mentions.*",
        start="text.beginOffset",
        end="",
        quote="text.content",
    ),
    _shape(
        "a manifest of SageMaker Ground Truth",
        "source",
        absent="text",
        pattern='"startOffset"',
        text="source",
        spans="*.annotations.entities.*",
        start="startOffset",
        end="endOffset",
    ),
    _shape(
        "an answer of Watson Natural Language Understanding",
        "entities usage",
        text="text|analyzed_text",
        spans="entities.*(label=type).mentions.*",
        start="location.0",
        end="location.1",
        quote="text",
        score="confidence",
    ),
    _shape(
        "a data set of Vertex AI",
        "textSegmentAnnotations",
        text="textContent",
        spans="textSegmentAnnotations.*",
        start="startOffset",
        end="endOffset",
        label="displayName",
    ),
    _shape(
        "a data set of AutoML Natural Language",
        "text_snippet annotations",
        text="text_snippet.content",
        spans="annotations.*",
        start="text_extraction.text_segment.start_offset",
        end="text_extraction.text_segment.end_offset",
        label="display_name",
    ),
    # Programs.
    _shape(
        "spaCy 2's training data",
        "paragraphs",
        pattern=r'"sentences"\s*:',
        records="paragraphs.*",
        id="",
        text="raw",
        sentences="sentences.*",
        pieces="tokens.*",
        piece_keys=("orth", "", ""),
        tags="ner",
    ),
    _shape(
        "CoreNLP's JSON",
        "sentences",
        absent="doc_key ner",
        pattern='"entitymentions"',
        id="docId",
        sentences="sentences.*",
        pieces="tokens.*",
        piece_keys=("originalText|word", "characterOffsetBegin", "characterOffsetEnd"),
        spans="sentences.*.entitymentions.*",
        start="characterOffsetBegin",
        end="characterOffsetEnd",
        label="ner",
        quote="text",
        offsets=UTF_16,
    ),
    _shape(
        "CoreNLP's JSON",
        "sentences",
        absent="doc_key ner",
        pattern=r'"characterOffsetBegin"[^{}]*"ner"|"ner"[^{}]*"characterOffsetBegin"',
        id="docId",
        sentences="sentences.*",
        pieces="tokens.*",
        piece_keys=("originalText|word", "characterOffsetBegin", "characterOffsetEnd"),
        tags="ner",
    ),
    _shape(
        "Stanza's sentences as lists of words",
        pattern=r'\A\s*\[\s*(?:\[\s*)?\[\s*\{[^{}]*"(?:multi_)?ner"\s*:',
        id="",
        sentences="*",
        pieces="*",
        piece_keys=("text", "start_char", "end_char"),
        tags="ner",
    ),
    _shape(
        "Flair's to_dict",
        "text",
        pattern=r'"start_pos"[^{}]*"labels"\s*:\s*\[\s*\{',
        text="text",
        spans="entities.*",
        start="start_pos",
        end="end_pos",
        label="labels.0.value",
        score="labels.0.confidence",
        quote="text",
    ),
    _shape(
        "a document of Haystack",
        "content meta",
        pattern='"named_entities"',
        text="content",
        spans="meta.named_entities.*",
        label="entity",
        score="score",
    ),
    # Corpora and models.
    _shape(
        "BigBIO's kb schema",
        "document_id passages entities",
        id="document_id",
        pieces="passages.*",
        piece_keys=("text.0", "offsets.0.0", "offsets.0.1"),
        spans="entities.*",
        parts="offsets",
        label="type",
        quote="text",
        span_id="id",
        link="normalized.*.db_id",
    ),
    _shape(
        "SpERT's data",
        "tokens entities",
        absent="text ner_tags",
        pattern=r'"entities"\s*:\s*\[\s*\{[^{}]*"start"',
        id="orig_id",
        words="tokens",
        spans="entities.*",
        label="type",
    ),
    _shape(
        "W2NER's data",
        "sentence ner",
        pattern=r'"ner"\s*:\s*\[\s*\{[^{}]*"index"\s*:',
        words="sentence",
        spans="ner.*",
        members="index",
        label="type",
    ),
    _shape(
        "OneIE's data",
        "tokens entity_mentions",
        id="sent_id",
        words="tokens",
        spans="entity_mentions.*",
        label="entity_type",
        span_id="id",
    ),
    _shape(
        "DocRED's data",
        "vertexSet sents",
        id="title",
        words="sents.*",
        spans="vertexSet.*.*",
        start="pos.0",
        end="pos.1",
        label="type",
        sentence="sent_id",
    ),
    _shape(
        "CLUENER's data",
        "text label",
        pattern=r'"label"\s*:\s*\{\s*"[^"]*"\s*:\s*\{',
        text="text",
        spans="label.{label}.{quote}.*",
        start="0",
        end="",
        last="1",
    ),
    _shape(
        "CMEEE's data",
        "text",
        pattern=r'"(?:entities|entity_list)"\s*:\s*\[\s*\{[^{}]*"start_idx"\s*:',
        text="text",
        spans="entities.*|entity_list.*",
        start="start_idx",
        end="",
        last="end_idx",
        label="type",
        quote="entity",
    ),
    _shape(
        "the data of Presidio's evaluator",
        "full_text spans",
        id="sample_id",
        text="full_text",
        spans="spans.*",
        start="start_position",
        end="end_position",
        label="entity_type",
        quote="entity_value",
    ),
    _shape(
        "a data set of ai4privacy",
        "source_text privacy_mask",
        text="source_text",
        spans="privacy_mask.*",
        quote="value",
    ),
    _shape(
        ROWS,
        "features rows",
        pattern='"row_idx"',
        records="rows.*.row",
        words="tokens|words",
        tags="ner_tags|tags|labels|ner",
        features="features",
    ),
)
"""The shapes that are recognised; the first that fits is taken."""

NAMES = (
    "records",
    "id",
    "text",
    "words",
    "layers",
    "spans",
    "start",
    "end",
    "last",
    "length",
    "label",
    "quote",
    "score",
)
"""What a shape of one's own can name."""


def shape_of_head(head: Head) -> RecordShape | None:
    """Return the shape that a file of this head has, None for none."""
    return next((shape for shape in SHAPES if shape.fits(head)), None)


def parse_keys(words: str) -> Mapping[str, str]:
    """Read what `--keys` says: `text=content,spans=marks,start=from,end=to,label=kind`.

    Raises:
        FormatError: it says something else.
    """
    keys: dict[str, str] = {}
    for part in filter(str.strip, words.split(",")):
        name, equals, path = (word.strip() for word in part.partition("="))
        if not equals or name not in NAMES or not path:
            finding = f"{quoted(part.strip())} does not say what a key holds"
            remedy = f"write text=KEY,spans=KEY,start=KEY,end=KEY,label=KEY; known are {', '.join(NAMES)}"
            raise FormatError.single("--keys", None, finding, remedy)
        keys[name] = path
    return keys


def shape_of_keys(keys: Mapping[str, str]) -> RecordShape:
    """Return the shape that a user describes by keys.

    Raises:
        FormatError: no spans are named, or two ends.
    """
    if unknown := sorted(keys.keys() - set(NAMES)):
        finding = f"{quoted(unknown[0])} is nothing that a key holds"
        raise FormatError.single("--keys", None, finding, f"known are {', '.join(NAMES)}")
    ends = [name for name in ("end", "last", "length") if name in keys]
    if "spans" not in keys or len(ends) > 1:
        finding = f"{' and '.join(ends)} are two ends" if ends[1:] else "no key for the list of spans"
        remedy = "name one: end is behind the span, last inside" if ends[1:] else "add spans=KEY"
        raise FormatError.single("--keys", None, finding, remedy)
    named: dict[str, Any] = dict(keys)
    layers = tuple(filter(None, (named.pop("layers", ""),)))
    spans = named["spans"]
    if not spans.endswith(("*", "}")):
        # A list is meant with all it holds; an object as lists by type, unless it has spans of its own.
        named["spans"] = f"{spans}.*"
    plain: dict[str, Any] = {"end": "", "text": "" if "words" in named else "text"} if ends else {"text": "text"}
    return RecordShape("the keys given", **{**plain, **named}, layers=layers)
