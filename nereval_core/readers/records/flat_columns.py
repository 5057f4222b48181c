"""Records as tables have them, as records with objects: Argilla's, the datasets server's, and lists in strings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nereval_core.readers.shared.annotation_keys import rows_of_columns
from nereval_core.readers.shared.list_cells import list_in_cell

OF_ARGILLA = frozenset(("id", "status", "_server_id", "external_id", "metadata", "inserted_at", "updated_at"))
"""Columns of Argilla's own."""


def argilla_record(record: Any) -> Any:
    """Return a record of Argilla that has columns as `to_json` writes it; any other as it is.

    Version 2 has columns `spans.responses`, `spans.responses.users` and `spans.suggestion`; a `FeedbackDataset` of
    version 1 has responses under `spans`, with what is suggested in `spans-suggestion`.
    """
    if not isinstance(record, dict):
        return record
    responses: dict[str, Any] = {}
    suggestions: dict[str, Any] = {}
    fields: dict[str, str] = {}
    others: dict[str, Any] = {}
    for key, value in record.items():
        question, _, part = key.rpartition(".")
        if question and part == "responses":
            users = record.get(f"{key}.users") or ()
            values = value if isinstance(value, list) else []
            named = len(users) == len(values)
            responses[question] = [
                {"value": rows_of_columns(answer), "user_id": users[at] if named else at + 1}
                for at, answer in enumerate(values)
            ]
        elif question and part == "suggestion" and value is not None:
            suggestions[question] = {"value": rows_of_columns(value), "agent": record.get(f"{key}.agent")}
        elif f"{key}-suggestion" in record:
            answers = rows_of_columns(value)
            responses[key] = [
                {**answer, "value": rows_of_columns(answer.get("value"))}
                for answer in (answers if isinstance(answers, list) else ())
                if isinstance(answer, Mapping) and answer.get("status") != "discarded"
            ]
            if record[f"{key}-suggestion"] is not None:
                about = record.get(f"{key}-suggestion-metadata")
                agent = about.get("agent") if isinstance(about, Mapping) else None
                suggestions[key] = {"value": rows_of_columns(record[f"{key}-suggestion"]), "agent": agent}
        elif isinstance(value, str) and not question and "-suggestion" not in key and key not in OF_ARGILLA:
            fields[key] = value
        else:
            others[key] = value
    id = record.get("id", record.get("external_id"))
    return {**others, "id": id, "fields": fields, "responses": responses, "suggestions": suggestions}


def record_of_row(row: Any) -> Any:
    """Return a row of the datasets server with lists of objects in place of objects of lists."""
    return {key: rows_of_columns(value) for key, value in row.items()} if isinstance(row, dict) else row


def record_of_strings(record: Any) -> Any:
    """Return a record with the lists that its strings hold, as JSON or as Python's literals, in their place."""
    if not isinstance(record, dict):
        return record
    return {key: list_in_cell(value) if isinstance(value, str) else value for key, value in record.items()}


def record_of_predictions(record: Any) -> Any:
    """Return a line of Vertex AI's predictions, which has a list for each property of spans, with a list of spans."""
    lists = record.get("prediction") if isinstance(record, dict) else None
    if not isinstance(lists, dict):
        return record
    names = {
        "label": "displayNames",
        "start": "textSegmentStartOffsets",
        "end": "textSegmentEndOffsets",
        "score": "confidences",
    }
    return {**record, "spans": rows_of_columns({key: lists.get(name) for key, name in names.items()})}
