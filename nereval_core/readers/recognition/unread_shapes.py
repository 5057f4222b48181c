"""Files of tools that are known and not read: each is called by its name, with what to export or write instead."""

from __future__ import annotations

import re
from dataclasses import dataclass

from nereval_core.readers.input.file_text import Head

ENTITIES = "text and entities with start, end and label"
"""The plainest objects with offsets that are read."""
AZURE = "write each of documents a line, with the text that was sent beside its entities under text"


@dataclass(frozen=True)
class UnreadShape:
    """A file that is known and not read: its name, the remedy, and the signs of it.

    All of `keys` stand in the first JSON object and none of `absent`; `pattern`, if any, occurs in the file's head.
    """

    name: str
    remedy: str
    keys: frozenset[str] = frozenset()
    absent: frozenset[str] = frozenset()
    pattern: str = ""

    def fits(self, head: Head) -> bool:
        """Return whether a file of this head has the shape."""
        if not self.keys <= head.keys or not self.absent.isdisjoint(head.keys):
            return False
        return not self.pattern or re.search(self.pattern, head.text) is not None


def _shape(name: str, keys: str, remedy: str, *, absent: str = "", pattern: str = "") -> UnreadShape:
    """Return a row of the table: `keys` and `absent` are words with blanks between."""
    return UnreadShape(name, remedy, frozenset(keys.split()), frozenset(absent.split()), pattern)


UNREAD_SHAPES = (
    # Annotation tools.
    _shape(
        "doccano's old export",
        "text annotations annotation_approver",
        "export it from doccano 1.5 or later, whose labels have names, as JSONL",
    ),
    _shape(
        "Argilla's export (version 1)",
        "text annotation_agent",
        f"write {ENTITIES}: the list under annotation (or prediction) is that of entities",
    ),
    _shape(
        "Argilla's export (version 2)",
        "fields responses",
        f"write {ENTITIES}: text stands in fields, entities are the value of an answer in responses",
    ),
    _shape(
        "Label Studio's export as CSV or TSV",
        "",
        "export it as JSON: Label Studio's JSON and JSON-MIN are read",
        pattern=r"\A\s*(?=[^\n{\[]*\bannotation_id\b)(?=[^\n{\[]*\blead_time\b)",
    ),
    _shape(
        "LightTag's export",
        "examples",
        f"write {ENTITIES} for each example: text is its content, label the tag",
        pattern='"example_id"',
    ),
    _shape(
        "Dataturks' export",
        "content annotation",
        f"write {ENTITIES}: text is content, and end one more than the end of a point",
    ),
    _shape(
        "Labelbox's export",
        "data_row projects",
        f"write {ENTITIES}: text is row_data, start and end stand in location, and end is inclusive there",
    ),
    _shape(
        "UBIAI's export",
        "document tokens",
        f"export it as IOB, or write {ENTITIES}: text is document, entities are tokens, label is entityLabel",
        pattern='"entityLabel"',
    ),
    _shape(
        "tagtog's annotations",
        "annotatable entities",
        f"write {ENTITIES}: the text stands in the document's HTML, label is the name of classId",
    ),
    _shape(
        "a file of the NER annotator (tecoholic)",
        "classes annotations",
        "save the list under annotations alone: pairs of a text and its entities are read",
    ),
    _shape(
        "an image of Prodigy", "image", "give annotations of text: spans of an image are boxes", absent="text tokens"
    ),
    _shape("UIMA's old JSON", "_context _views", "export UIMA CAS XMI, or UIMA CAS JSON 0.4.0"),
    _shape("a file of Rasa NLU", "rasa_nlu_data", f"write {ENTITIES} for each of common_examples: label is entity"),
    _shape(
        "brat's JSON",
        "text entities",
        "give the folder of .txt and .ann files: brat stand-off is read",
        pattern=r'"entities"\s*:\s*\[\s*\[\s*"T\d+"\s*,\s*"[^"]*"\s*,\s*\[\s*\[',
    ),
    _shape(
        "GATE's JSON",
        "text entities",
        f"write {ENTITIES}: start and end are the indices, label is the key above them",
        pattern=r'"indices"\s*:\s*\[',
    ),
    # Services.
    _shape("an answer of Azure Language", "documents modelVersion", AZURE),
    _shape("an answer of Azure Language", "kind results", AZURE, pattern=r'"modelVersion"'),
    _shape("an answer of a job of Azure Language", "jobId tasks", AZURE),
    _shape(
        "labels of a project of Azure Language",
        "projectFileVersion assets",
        f"write {ENTITIES}: text is the file of location, end is offset + length, label is category",
    ),
    _shape(
        "the output of a job of Amazon Comprehend",
        "Entities File",
        "put the text that was sent, the file or its line Line, beside Entities under text",
        absent="Text text",
    ),
    _shape(
        "a manifest of SageMaker Ground Truth",
        "source",
        f"write {ENTITIES}: text is source, startOffset and endOffset are start and end",
        absent="text",
        pattern='"startOffset"',
    ),
    _shape(
        "an answer of Google Natural Language",
        "entities",
        "put the text that was sent beside entities under text",
        absent="text",
        pattern='"beginOffset"|"salience"',
    ),
    _shape(
        "a data set of Vertex AI",
        "textSegmentAnnotations",
        f"write {ENTITIES}: text is textContent, startOffset, endOffset and displayName are start, end and label",
    ),
    _shape(
        "a data set of AutoML Natural Language",
        "text_snippet annotations",
        f"write {ENTITIES}: text is content, start_offset, end_offset and display_name are start, end and label",
    ),
    _shape(
        "an answer of Watson Natural Language Understanding",
        "entities usage",
        f"write {ENTITIES}: text is what was sent, start and end are the location",
        absent="text",
    ),
    # Programs.
    _shape(
        "LangExtract's output",
        "extractions",
        f"write {ENTITIES}: start, end and label are start_pos, end_pos and extraction_class",
        pattern='"extraction_class"',
    ),
    _shape(
        "spaCy 2's training data",
        "paragraphs",
        "convert it: python -m spacy convert FILE.json FOLDER; the .spacy file is read",
        pattern=r'"sentences"\s*:',
    ),
    _shape(
        "CoreNLP's JSON",
        "sentences",
        "run it with -outputFormat conll -output.columns word,ner; columns are read",
        absent="doc_key ner",
        pattern='"originalText"|"characterOffsetBegin"|"entitymentions"',
    ),
    _shape(
        "Stanza's sentences as lists of words",
        "",
        "write it by CoNLL.write_doc2conll(doc, FILE.conllu): tags under ner= are read",
        pattern=r'\A\s*\[\s*\[\s*\{[^{}]*"(?:multi_)?ner"\s*:',
    ),
    _shape(
        "Flair's to_dict",
        "text",
        f"write {ENTITIES}: start_pos and end_pos are start and end, label is the value in labels",
        pattern=r'"start_pos"[^{}]*"labels"\s*:\s*\[\s*\{',
    ),
    _shape(
        "an output of FARM",
        "task predictions",
        f"write {ENTITIES}: text is what was sent, entities are predictions",
        pattern=r'"task"\s*:\s*"ner"',
    ),
    _shape(
        "a document of Haystack",
        "content meta",
        f"write {ENTITIES}: text is content, entities are named_entities, label is entity",
        pattern='"named_entities"',
    ),
    # Corpora and models.
    _shape(
        "BigBIO's kb schema",
        "document_id passages entities",
        f"write {ENTITIES}: text is that of all passages, start and end are in offsets, label is type",
    ),
    _shape(
        "SpERT's data",
        "tokens entities",
        "rename tokens to tokenized_text, and entities to ner with [start, end - 1, type] of each",
        absent="text ner_tags",
        pattern=r'"entities"\s*:\s*\[\s*\{[^{}]*"start"',
    ),
    _shape(
        "W2NER's data",
        "sentence ner",
        "rename sentence to tokenized_text, and write [first index, last index, type] for each of ner",
        pattern=r'"ner"\s*:\s*\[\s*\{[^{}]*"index"\s*:',
    ),
    _shape(
        "CLUENER's data",
        "text label",
        "write label as a list of [start, end + 1, type]",
        pattern=r'"label"\s*:\s*\{\s*"[^"]*"\s*:\s*\{',
    ),
    _shape(
        "BERT-MRC's data",
        "context entity_label start_position",
        "write one row a context: tokenized_text (its words) and ner with [start, end, entity_label] of each question",
    ),
    _shape(
        "the data of Presidio's evaluator",
        "full_text spans",
        f"write {ENTITIES}: text is full_text, start and end are start_position and end_position, label is entity_type",
    ),
    _shape(
        "a data set of ai4privacy",
        "source_text privacy_mask",
        f"write {ENTITIES}: text is source_text, and entities are privacy_mask",
    ),
    _shape(
        "a document of GATE's Python library (bdocjs)",
        "annotation_sets text",
        f"write {ENTITIES}: entities are the annotations of a set, label is type",
    ),
    _shape(
        "XML of i2b2 2014 or of MAE",
        "",
        "convert it to brat or JSONL: the text stands in TEXT, and each element of TAGS has start and end",
        pattern=r"\A\s*(?:<\?xml[^>]*>\s*)?(?:<!DOCTYPE[^>]*>\s*)?<\w+>\s*<TEXT>\s*<!\[CDATA\[",
    ),
    _shape(
        "OneIE's data",
        "tokens entity_mentions",
        "rename tokens to tokenized_text, and write ner with [start, end - 1, entity_type] of each mention",
    ),
    _shape(
        "DocRED's data",
        "vertexSet sents",
        "write tokenized_text (all words of sents) and ner with [first word, last word, type] of each mention",
    ),
    _shape("TACRED's data", "subj_start obj_start", "give a corpus of entities: this one has relations"),
    _shape("SQuAD's data", "data version", "give a corpus of entities: this one has questions", pattern='"qas"'),
    _shape(
        "rows of the datasets server",
        "features rows",
        "write the object under row of each of rows a line, or load the Parquet files of the data set",
        pattern='"row_idx"',
    ),
    _shape(
        "scores of evaluate or seqeval",
        "overall_precision overall_recall",
        "give the tags or spans that were scored, not the scores",
    ),
)
"""The files that are known and not read; the first that fits is named."""


def unread_shape(head: Head) -> tuple[str, str] | None:
    """Return the finding and the remedy for a file that is known and not read; None for any other."""
    shape = next((shape for shape in UNREAD_SHAPES if shape.fits(head)), None)
    return (f"it looks like {shape.name}, which is not read", shape.remedy) if shape else None
