"""The workbench of Inspect without a browser: what it is sent, and what its keys send back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from streamlit.testing.v1 import AppTest

from nereval_core.review.verdicts import KINDS
from pages.shared.inspect.facets import KEY as FACETS
from pages.shared.inspect.workbench import KEY
from pages.shared.view import keys
from tests.support.pages import sound

MOUNT = "test"


def workbench(app: AppTest) -> dict[str, Any]:
    """Return the data of the component."""
    every = [json.loads(one.proto.json) for one in app.get("bidi_component") if one.proto.WhichOneof("data") == "json"]
    return next(one for one in every if "entries" in one)


def facets(app: AppTest) -> dict[str, dict[str, Any]]:
    """Return the facets beside the queue by their labels."""
    every = [json.loads(one.proto.json) for one in app.get("bidi_component") if one.proto.WhichOneof("data") == "json"]
    sent = next(data["facets"] for data in every if "facets" in data and "chosen" in data)
    return {facet["label"]: facet for facet in sent}


def choose_facet(app: AppTest, label: str, value: str | None, act: str = "narrow") -> AppTest:
    """Choose a value of a facet, or with None take the choice back."""
    number = app.session_state[keys.EVENTS][FACETS].last + 1
    event = {"act": act, "facet": facets(app)[label]["name"], "value": value}
    app.session_state[FACETS] = {"out": {"mount": MOUNT, "events": [{"seq": number, **event}]}}
    return sound(app.run())


def span_words(entry: Sequence[Any]) -> str:
    """Return the words of both sides in an entry of the queue."""
    return "".join(text for text, _ in entry[3])


def card(app: AppTest) -> dict[str, Any]:
    """Return the card of the open record."""
    data = workbench(app)
    numbered: dict[str, Any] = data["cards"]["\n".join(data["open"])]
    return numbered | {"rows": [data["rows"][number] for number in numbered["rows"]]}


def listed(app: AppTest) -> int:
    """Return the number of records in the queue."""
    return int(workbench(app)["total"])


def act(app: AppTest, name: str, *, note: str | None = None, **more: Any) -> AppTest:
    """Do what a key does, see `sent_by`."""
    last = app.session_state[keys.EVENTS][KEY].last
    app.session_state[KEY] = {"out": sent_by(workbench(app), name, last=last, note=note, **more)}
    return sound(app.run())


def sent_by(
    data: Mapping[str, Any], name: str, *, last: int, mount: str = "", note: str | None = None, **more: Any
) -> dict[str, Any]:
    """Return what a key sends: a verdict (which opens the next record), j, k, undo, star, over, leave, whole, beside.

    `data` is that of the component, `last` the number of its last event since it was mounted.
    """
    (doc, record), at = data["open"], data["at"]
    event: dict[str, Any] = {"seq": last + 1, "act": name, "doc": doc, "record": record, **more}
    step = 0
    if name == "star":
        event["value"] = not data["cards"].get(f"{doc}\n{record}", {}).get("starred", False)
    if name in KINDS:
        known = data["cards"].get(f"{doc}\n{record}", {})
        kept = known.get("note", "") if note is None else note
        event |= {"act": "verdict", "kind": name, "note": kept, "version": known.get("version", 0)}
        step = int(data["verdicts"]["advance"])
    elif name in ("j", "k"):
        event["act"], step = "open", 1 if name == "j" else -1
    place = int(at + step) if at % 1 == 0 else int(at + 0.5) if step > 0 else int(at - 0.5)
    there = place - data["first"]
    if step and 0 <= there < len(data["entries"]):
        doc, record, at = *data["entries"][there][:2], place
    return {"mount": mount or data["session"], "at": [doc, record, int(at)], "events": [event]}
