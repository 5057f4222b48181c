"""The shapes of JSON records that are known: a row for each tool, service and corpus."""

from __future__ import annotations

import re
from typing import Any

from nereval_core.readers.input.file_text import Head
from nereval_core.readers.records.flat_columns import (
    argilla_record,
    record_of_predictions,
    record_of_row,
    record_of_strings,
)
from nereval_core.readers.records.linked_data import record_of_annotation, record_of_node, record_of_spotlight
from nereval_core.readers.records.named_words import record_of_w2ner
from nereval_core.readers.records.record_shape import RecordShape
from nereval_core.readers.shared.annotation_keys import OF_GATE
from nereval_core.readers.shared.offset_units import Offsets

UTF_16 = Offsets("UTF-16 units")
PATH = re.compile(r"(\w+)=(.*?)(?: (?=\w+=)|$)")
ROWS = "rows of the datasets server"


def _shape(name: str, keys: str = "", paths: str = "", pattern: str = "", absent: str = "", **more: Any) -> RecordShape:
    """Return a row of the table: `keys` and `absent` are words with blanks between, `paths` what a shape has, `a=b`."""
    signs: dict[str, Any] = {"keys": frozenset(keys.split()), "absent": frozenset(absent.split()), "pattern": pattern}
    return RecordShape(name, **signs, **dict(PATH.findall(paths)), **more)


AZURE = (
    "spans=entities.* start=offset length=length label=category quote=text "
    "score=confidenceScore|confidence_score text=text"
)
COMPREHEND = (
    "id= spans=Entities.* start=BeginOffset end=EndOffset label=Type quote=Text score=Score failure=ErrorMessage"
)
ARGILLA_2: dict[str, Any] = {
    "text": "fields.text|fields.*",
    "layers": ("responses.{layer}.*(layer=user_id)", "suggestions.{layer}(layer=agent)"),
    "spans": "value.*",
}
VERTEX: dict[str, Any] = {
    "text": "textContent",
    "spans": "textSegmentAnnotations.*",
    "start": "startOffset",
    "end": "endOffset",
    "label": "displayName",
    "is_protobuf": True,
}
LIGHTTAG = (
    "id=example_id text=content seen=seen_by.*.annotator whose=annotated_by.*.annotator spans=annotations.* "
    "label=tag quote=value"
)
ROW: dict[str, Any] = {"records": "rows.*.row", "features": "features", "prepare": record_of_row}
BDOC: dict[str, Any] = {
    "id": "name",
    "text": "text",
    "layers": ("annotation_sets.{layer}",),
    "spans": "annotations.*",
    "label": "type",
    "tool_types": OF_GATE,
}
NIF: dict[str, Any] = {
    "id": "id",
    "document": "document",
    "text": "text",
    "spans": "spans.*",
    "quote": "quote",
    "link": "links.*",
    "prepare": record_of_node,
}
KILI = "start=beginOffset end=endOffset label=categories.0.name quote=content"
SHAPES = (
    # Annotation tools.
    _shape(
        "Argilla's export (version 1)",
        "text annotation_agent",
        "text=text spans=* start=start|1 end=end|2 label=label|0 score=score|3",
        layers=("{layer=annotation,prediction}",),
    ),
    _shape(
        "records of Argilla's server (version 1)",
        "text tokens",
        "text=text spans=entities.* score=score",
        pattern=r'"(?:annotation|prediction)"\s*:\s*\{\s*"(?:agent|entities)"',
        layers=("{layer=annotation,prediction}",),
    ),
    _shape("Argilla's export (version 2)", "fields responses", **ARGILLA_2),
    _shape(
        "Argilla's export (version 2) in columns",
        "id status",
        absent="fields",
        pattern=r'"[^"\\]*\.(?:responses|suggestion)"\s*:',
        prepare=argilla_record,
        **ARGILLA_2,
    ),
    _shape(
        "a feedback data set of Argilla",
        "external_id",
        absent="fields",
        pattern=r'"[^"\\]*-suggestion-metadata"\s*:',
        prepare=argilla_record,
        **ARGILLA_2,
    ),
    _shape("LightTag's export", "examples", f"{LIGHTTAG} records=examples.*", pattern='"example_id"'),
    _shape("examples of LightTag", "example_id content annotations", LIGHTTAG),
    _shape(
        "Dataturks' export",
        "content annotation",
        "text=content spans=annotation.*(label=label).points.* end= last=end quote=text",
    ),
    _shape(
        "Labelbox's export",
        "data_row projects",
        "id=data_row.external_id|data_row.global_key|data_row.id text=data_row.row_data "
        "spans=annotations.objects.* start=location.start end= last=location.end label=name "
        "quote=location.token",
        layers=("projects.*.labels.*(layer=label_details.created_by)",),
    ),
    _shape(
        "Labelbox's export (version 1)",
        "Label",
        "id=External ID|DataRow ID|ID text=Labeled Data by=Created By spans=Label.objects.* "
        "start=data.location.start end= last=data.location.end label=title|value",
        pattern=r'"Labeled Data"\s*:',
    ),
    _shape(
        "Kili's export",
        "content labels",
        f"{KILI} id=externalId|id text=content spans=jsonResponse.*.annotations.*",
        pattern='"jsonResponse"',
        layers=("labels.*(layer=author.email)",),
    ),
    _shape(
        "Kili's export (one label)",
        "content jsonResponse",
        f"{KILI} id=externalId|id text=content spans=jsonResponse.*.annotations.*",
    ),
    _shape(
        "UBIAI's export",
        "document tokens",
        "id=documentName text=document spans=tokens.* label=entityLabel quote=text",
        pattern='"entityLabel"',
    ),
    _shape(
        "UBIAI's export (spaCy)", "document annotation", "id=documentName text=document spans=annotation.* quote=text"
    ),
    _shape(
        "SuperAnnotate's export",
        "metadata instances",
        "id=metadata.name text=metadata.text|text spans=instances.* label=className",
        pattern='"className"',
    ),
    _shape(
        "a file of the NER annotator (tecoholic)",
        "classes annotations",
        "records=annotations.* text=0 spans=1.entities.* start=0 end=1 label=2",
    ),
    _shape(
        "training data of Rasa",
        "rasa_nlu_data",
        "records=rasa_nlu_data.common_examples.*|rasa_nlu_data.entity_examples.* text=text "
        "spans=entities.* label=entity score=confidence_entity|confidence",
    ),
    _shape(
        "an app of LUIS",
        "utterances",
        "records=utterances.* id= text=text spans=entities.* start=startPos end= last=endPos label=entity",
        pattern='"startPos"',
    ),
    _shape(
        "utterances of Wit",
        "utterances",
        "records=utterances.* id= text=text spans=entities.* label=entity quote=body",
        pattern='"body"',
    ),
    _shape(
        "brat's JSON",
        "text entities",
        "text=text spans=entities.* span_id=0 label=1 parts=2",
        pattern=r'"entities"\s*:\s*\[\s*\[\s*"[^"]*"\s*,\s*"[^"]*"\s*,\s*\[\s*\[',
    ),
    _shape(
        "GATE's JSON",
        "text entities",
        "text=text spans=entities.{label}.* start=indices.0 end=indices.1",
        pattern=r'"entities"\s*:\s*\{\s*"[^"]*"\s*:\s*\[\s*\{[^{}]*"indices"\s*:',
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
    _shape("an answer of Azure Language", "documents modelVersion", f"{AZURE} records=documents.*"),
    _shape(
        "an answer of Azure Language", "kind results", f"{AZURE} records=results.documents.*", pattern='"modelVersion"'
    ),
    _shape("an answer of a job of Azure Language", "jobId tasks", f"{AZURE} records=tasks.items.*.results.documents.*"),
    _shape(
        "an answer of Azure Text Analytics",
        "documents",
        "records=documents.* spans=entities.*(label=type).matches.* start=offset length=length quote=text "
        "score=entityTypeScore",
        pattern=r'"matches"\s*:\s*\[\s*\{[^{}]*"(?:entityTypeScore|wikipediaScore)"',
    ),
    _shape(
        "an answer of Azure Text Analytics", "documents", f"{AZURE} records=documents.*", pattern='"confidenceScore"'
    ),
    _shape(
        "answers of Azure Language",
        "id entities",
        AZURE,
        absent="text",
        pattern=r'"entities"\s*:\s*\[\s*\{[^{}]*"confidence_?[sS]core"',
    ),
    _shape(
        "a project of Azure Language (conversations)",
        "projectFileVersion assets",
        "records=assets.utterances.* id= text=text spans=entities.* start=offset length=length label=category",
        pattern=r'"utterances"\s*:',
        offsets=UTF_16,
    ),
    _shape(
        "labels of a project of Azure Language",
        "projectFileVersion assets",
        "records=assets.documents.* id=location text=text spans=entities.*.labels.* start=offset "
        "length=length label=category",
        of_files=True,
        offsets=UTF_16,
    ),
    _shape(
        "the output of a job of Amazon Comprehend",
        "File",
        f"{COMPREHEND} text=text number=Line id=File",
        absent="Text text",
        pattern='"(?:Entities|ErrorCode)"',
        of_files=True,
    ),
    _shape("answers of Amazon Comprehend", "ResultList ErrorList", f"{COMPREHEND} records=ResultList.*"),
    _shape(
        "answers of Amazon Comprehend", "Entities", f"{COMPREHEND} text=Text", absent="text", pattern='"BeginOffset"'
    ),
    _shape(
        "an answer of Google's Healthcare Natural Language",
        "entityMentions",
        "id= spans=entityMentions.* start=text.beginOffset end= label=type quote=text.content "
        "score=confidence span_id=mentionId",
        is_protobuf=True,
        absent="text",
        pattern='"beginOffset"',
    ),
    _shape(
        "an answer of Google Natural Language",
        "entities",
        "id= spans=entities.*(label=type).mentions.* start=text.beginOffset end= quote=text.content",
        is_protobuf=True,
        absent="text",
        pattern='"beginOffset"',
    ),
    _shape(
        "a manifest of SageMaker Ground Truth",
        "source",
        "text=source spans=*.annotations.entities.* start=startOffset end=endOffset",
        absent="text",
        pattern='"startOffset"',
    ),
    _shape(
        "an answer of Watson Natural Language Understanding",
        "entities",
        "text=text|analyzed_text spans=entities.*(label=type).mentions.* start=location.0 end=location.1 "
        "quote=text score=confidence",
        pattern=r'"mentions"\s*:\s*\[\s*\{[^{}]*"location"\s*:\s*\[',
    ),
    _shape(
        "an answer of Rosette",
        "entities",
        "id= text=text|content spans=entities.*(label=type).mentionOffsets.* start=startOffset end=endOffset",
        pattern=r'"mentionOffsets"\s*:\s*\[\s*\{',
        offsets=UTF_16,
    ),
    _shape(
        "an answer of TextRazor",
        "response",
        "id= text=response.cleanedText spans=response.entities.* start=startingPos end=endingPos "
        "label=type.0 quote=matchedText link=entityId",
        pattern='"startingPos"',
    ),
    _shape("a data set of Vertex AI", "textSegmentAnnotations textGcsUri", "id=textGcsUri", of_files=True, **VERTEX),
    _shape("a data set of Vertex AI", "textSegmentAnnotations", **VERTEX),
    _shape(
        "predictions of Vertex AI",
        "instance prediction",
        "id=instance.content text=text spans=spans.* end= last=end score=score",
        pattern='"textSegmentStartOffsets"',
        of_files=True,
        is_protobuf=True,
        prepare=record_of_predictions,
    ),
    _shape(
        "a data set of AutoML Natural Language",
        "text_snippet annotations",
        "text=text_snippet.content spans=annotations.* start=text_extraction.text_segment.start_offset "
        "end=text_extraction.text_segment.end_offset label=display_name",
        is_protobuf=True,
    ),
    _shape(
        "an answer of DBpedia Spotlight",
        "@text",
        "id= text=@text spans=Resources.* start=@offset end= quote=@surfaceForm link=@URI",
        prepare=record_of_spotlight,
    ),
    _shape(
        "W3C's Web Annotation",
        "target",
        "document=document spans=spans.* quote=quote span_id=id",
        pattern='"TextPositionSelector"',
        prepare=record_of_annotation,
    ),
    _shape("NIF as JSON-LD", "@graph", "records=@graph.*", pattern="nif-core[#/]", **NIF),
    _shape("NIF as JSON-LD", "@id", pattern="nif-core[#/]", **NIF),
    # Programs.
    _shape(
        "spaCy 2's training data",
        "paragraphs",
        "records=paragraphs.* id= text=raw sentences=sentences.* pieces=tokens.* tags=ner",
        pattern=r'"sentences"\s*:',
        piece_keys=("orth", "", ""),
    ),
    _shape(
        "CoreNLP's JSON",
        "sentences",
        "id=docId sentences=sentences.* pieces=tokens.* spans=sentences.*.entitymentions.* "
        "start=characterOffsetBegin end=characterOffsetEnd label=ner quote=text",
        absent="doc_key ner",
        pattern='"entitymentions"',
        piece_keys=("originalText|word", "characterOffsetBegin", "characterOffsetEnd"),
        offsets=UTF_16,
    ),
    _shape(
        "CoreNLP's JSON",
        "sentences",
        "id=docId sentences=sentences.* pieces=tokens.* tags=ner",
        absent="doc_key ner",
        pattern=r'"characterOffsetBegin"[^{}]*"ner"|"ner"[^{}]*"characterOffsetBegin"',
        piece_keys=("originalText|word", "characterOffsetBegin", "characterOffsetEnd"),
    ),
    _shape(
        "CoreNLP's XML",
        "",
        "id=docId sentences=sentences.* pieces=tokens.* tags=ner",
        pattern=r"\A\s*<\?xml[^>]*>[\s\S]*<root>\s*<document>[\s\S]*<sentences>",
        piece_keys=("word", "characterOffsetBegin", "characterOffsetEnd"),
        offsets=UTF_16,
    ),
    _shape(
        "Trankit's document",
        "text sentences",
        "text=text sentences=sentences.* pieces=tokens.* tags=ner",
        pattern=r'"dspan"\s*:',
        piece_keys=("text", "dspan.0", "dspan.1"),
    ),
    _shape(
        "GLiNER2's entities",
        "entities",
        "text=text|input spans=entities.{label}.* quote=text score=confidence",
        pattern=r'"entities"\s*:\s*\{[^}]*?\[\s*\{[^{}]*"(?:text|confidence)"[^{}]*"start"',
    ),
    _shape(
        "Stanza's sentences as lists of words",
        "",
        "id= sentences=* pieces=* tags=ner",
        pattern=r'\A\s*\[\s*(?:\[\s*)?\[\s*\{[^{}]*"(?:multi_)?ner"\s*:',
        piece_keys=("text", "start_char", "end_char"),
    ),
    _shape(
        "Flair's to_dict",
        "text",
        "text=text spans=entities.* start=start_pos end=end_pos label=labels.0.value "
        "score=labels.0.confidence quote=text",
        pattern=r'"start_pos"[^{}]*"labels"\s*:\s*\[\s*\{',
    ),
    _shape(
        "a document of Haystack",
        "content meta",
        "text=content spans=meta.named_entities.* label=entity score=score",
        pattern='"named_entities"',
    ),
    # Corpora and models.
    _shape(
        "BigBIO's kb schema",
        "document_id passages entities",
        "id=document_id pieces=passages.* spans=entities.* parts=offsets label=type quote=text span_id=id "
        "link=normalized.*.db_id",
        piece_keys=("text.0", "offsets.0.0", "offsets.0.1"),
    ),
    _shape(
        "SpERT's data",
        "tokens entities",
        "id=orig_id words=tokens spans=entities.* label=type",
        absent="text ner_tags",
        pattern=r'"entities"\s*:\s*\[\s*\{[^{}]*"start"',
    ),
    _shape(
        "W2NER's data",
        "sentence ner",
        "words=sentence spans=ner.* members=index label=type",
        pattern=r'"ner"\s*:\s*\[\s*\{[^{}]*"index"\s*:',
    ),
    _shape(
        "the output of W2NER",
        "sentence entity",
        "words=sentence spans=ner.* members=index label=type",
        pattern=r'"entity"\s*:\s*\[\s*(?:\{[^{}]*"(?:text|type)"\s*:|\])',
        prepare=record_of_w2ner,
    ),
    _shape(
        "OneIE's data",
        "tokens entity_mentions",
        "id=sent_id|wnd_id words=tokens spans=entity_mentions.* label=entity_type span_id=id",
    ),
    _shape(
        "DocRED's data",
        "vertexSet sents",
        "id=title words=sents.* spans=vertexSet.*.* start=pos.0 end=pos.1 label=type sentence=sent_id",
    ),
    _shape(
        "CLUENER's data",
        "text label",
        "text=text spans=label.{label}.{quote}.* start=0 end= last=1",
        pattern=r'"label"\s*:\s*\{\s*"[^"]*"\s*:\s*\{',
    ),
    _shape(
        "predictions of CLUENER",
        "label",
        "id= spans=label.{label}.{quote}.* start=0 end= last=1",
        absent="text",
        pattern=r'"label"\s*:\s*\{\s*"[^"]*"\s*:\s*\{\s*"[^"]*"\s*:\s*\[\s*\[',
    ),
    _shape(
        "InstructUIE's data",
        "sentence entities",
        "text=sentence spans=entities.* start=pos.0 end=pos.1 label=type quote=name",
        pattern=r'"pos"\s*:\s*\[\s*\d',
    ),
    _shape(
        "CMEEE's data",
        "text",
        "text=text spans=entities.*|entity_list.* start=start_idx end= last=end_idx label=type quote=entity",
        pattern=r'"(?:entities|entity_list)"\s*:\s*\[\s*\{[^{}]*"start_idx"\s*:',
    ),
    _shape(
        "the data of CCKS",
        "originalText entities",
        "text=originalText spans=entities.* start=start_pos end=end_pos label=label_type",
    ),
    _shape(
        "TPLinker's data",
        "text entity_list",
        "text=text spans=entity_list.* start=char_span.0 end=char_span.1 label=type quote=text",
        pattern='"char_span"',
    ),
    _shape(
        "ACE 2005 as sentences",
        "words golden-entity-mentions",
        "id= words=words spans=golden-entity-mentions.* label=entity-type",
    ),
    _shape(
        "Chinese data with entity_index",
        "text entity_list",
        "text=text spans=entity_list.* start=entity_index.begin end=entity_index.end label=entity_type quote=entity",
    ),
    _shape(
        "the data of Presidio's evaluator",
        "full_text spans",
        "id=sample_id text=full_text spans=spans.* start=start_position end=end_position label=entity_type "
        "quote=entity_value",
    ),
    _shape(
        "a data set of ai4privacy",
        "source_text privacy_mask",
        "text=source_text spans=privacy_mask.* quote=value",
        prepare=record_of_strings,
    ),
    _shape(
        "an older data set of ai4privacy",
        "unmasked_text span_labels",
        "text=unmasked_text spans=span_labels.* start=0 end=1 label=2",
        prepare=record_of_strings,
    ),
    _shape(
        "a data set of Gretel",
        "generated_text pii_spans",
        "id=index|id text=generated_text spans=pii_spans.*",
        prepare=record_of_strings,
    ),
    _shape(
        ROWS,
        "features rows",
        "words=tokens|words tags=ner_tags|tags|labels|ner|ner_labels|fine_ner_tags",
        pattern=r'"name"\s*:\s*"(?:tokens|words)"[\s\S]*"row_idx"',
        **ROW,
    ),
    _shape(
        ROWS,
        "features rows",
        "text=text|sentence|content|source_text|full_text "
        "spans=entities.*|spans.*|ents.*|annotations.*|privacy_mask.* "
        "start=start|start_offset|begin|begin_offset|0 end=end|end_offset|1 "
        "label=label|entity_type|type|entity|tag|2 quote=text|value|word score=score",
        pattern='"row_idx"',
        **ROW,
    ),
)
"""The shapes that are recognised; the first that fits is taken."""


def shape_of_head(head: Head) -> RecordShape | None:
    """Return the shape that a file of this head has, None for none."""
    return next((shape for shape in SHAPES if shape.fits(head)), None)
