"""Files of tools that are known and not read: each is called by its name, with what to export or write instead."""

from __future__ import annotations

import re
from dataclasses import dataclass

from nereval_core.readers.input.file_text import Head

ENTITIES = "text and entities with start, end and label"
"""The plainest objects with offsets that are read."""


@dataclass(frozen=True)
class KnownShape:
    """A file of another tool: its name and the signs of it.

    All of `keys` stand in the first JSON object and none of `absent`; `pattern`, if any, occurs in the file's head.
    """

    name: str
    keys: frozenset[str] = frozenset()
    absent: frozenset[str] = frozenset()
    pattern: str = ""

    def fits(self, head: Head) -> bool:
        """Return whether a file of this head has the shape."""
        if not self.keys <= head.keys or not self.absent.isdisjoint(head.keys):
            return False
        return not self.pattern or re.search(self.pattern, head.text) is not None


@dataclass(frozen=True)
class UnreadShape(KnownShape):
    """A file that is known and not read, with the remedy."""

    remedy: str = ""


def _shape(name: str, keys: str, remedy: str, *, absent: str = "", pattern: str = "") -> UnreadShape:
    """Return a row of the table: `keys` and `absent` are words with blanks between."""
    return UnreadShape(name, frozenset(keys.split()), frozenset(absent.split()), pattern, remedy)


UNREAD_SHAPES = (
    # Annotation tools.
    _shape(
        "doccano's old export",
        "text annotations annotation_approver",
        "export it from doccano 1.5 or later, whose labels have names, as JSONL",
    ),
    _shape(
        "tagtog's annotations",
        "annotatable entities",
        f"write {ENTITIES}: the text stands in the document's HTML, label is the name of classId",
    ),
    _shape(
        "an image of Prodigy",
        "image",
        "give annotations of text: spans of an image are boxes",
        absent="text tokens annotator",
    ),
    _shape("UIMA's old JSON", "_context _views", "export UIMA CAS XMI, or UIMA CAS JSON 0.4.0"),
    # Programs.
    _shape(
        "an output of FARM",
        "task predictions",
        f"write {ENTITIES}: text is what was sent, entities are predictions",
        pattern=r'"task"\s*:\s*"ner"',
    ),
    _shape(
        "displaCy's HTML",
        "",
        f"write {ENTITIES}, or doc.to_json(): the page has words, colours and types in one text",
        pattern=r'<mark class="entity"',
    ),
    _shape("NIF as RDF/XML", "", "write it as Turtle, N-Triples or JSON-LD", pattern=r"<rdf:RDF\b[\s\S]*nif-core#"),
    _shape(
        "NAF",
        "",
        f"write {ENTITIES}: text is raw, start and end are those of an entity's words (wf)",
        pattern=r"<NAF\b",
    ),
    _shape(
        "FoLiA",
        "",
        "write columns of words and tags, a word a line: word<tab>B-class",
        pattern=r"<FoLiA\b",
    ),
    _shape("TCF of WebLicht", "", "write columns of words and tags: word<tab>B-class", pattern=r"<D-Spin\b"),
    _shape("PAGE XML of Transkribus", "", "export TEI, whose elements of names are read", pattern=r"<PcGts\b"),
    _shape(
        "Knowtator's or eHOST's XML",
        "",
        f"write {ENTITIES}: text is that of textSource, label is mentionClass",
        pattern=r"<annotations textSource=|<knowtator-project\b",
    ),
    _shape(
        "Anafora's XML",
        "",
        f"write {ENTITIES}: <span>0,8</span> is start and end, <type> the label",
        pattern=r"<data>[\s\S]*<annotations>\s*<entity>\s*<id>",
    ),
    # Corpora and models.
    _shape(
        "BERT-MRC's data",
        "context entity_label start_position",
        "write one row a context: tokenized_text (its words) and ner with [start, end, entity_label] of each question",
    ),
    _shape("TACRED's data", "subj_start obj_start", "give a corpus of entities: this one has relations"),
    _shape("SQuAD's data", "data version", "give a corpus of entities: this one has questions", pattern='"qas"'),
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
