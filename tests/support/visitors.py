"""Visitors of the app without a browser: connected as a page is, with its cookies, widgets, uploads and downloads.

    with Visitor(address, token=TOKEN) as visitor:
        seconds = visitor.open("Inspect", "corpus=0123&by=strict")
        seconds = visitor.click("upload_read")

A widget is named by its key in the app, or by its label.
"""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from http.cookies import SimpleCookie
from itertools import count
from typing import Any, Self
from urllib.parse import urlencode, urlsplit

import pyarrow as pa
from google.protobuf.message import Message
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

MB = 1 << 20
WAIT = 120.0
"""Seconds after which a server will not answer any more."""
HTML = {"Accept": "text/html"}
TRIGGERS = ("trigger_value", "string_trigger_value", "json_trigger_value")
"""Values of widgets that hold for one run."""


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    raw: bytes
    cookies: tuple[str, ...] = ()

    @property
    def body(self) -> str:
        return self.raw.decode(errors="replace")


def ask(address: str, path: str, *, method: str = "GET", body: Any = None, **headers: str) -> Answer:
    """Send a request; an underscore in the name of a header stands for a hyphen."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=WAIT)
    try:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, sent, encode_chunked=not isinstance(body, bytes | None))
        response = connection.getresponse()
        found = {name.lower(): value for name, value in response.getheaders()}
        cookies = tuple(response.headers.get_all("set-cookie", ()))
        return Answer(response.status, found, response.read(), cookies)
    finally:
        connection.close()


class Visitor:
    """A session of the app. `received` is called with the bytes of each message and each file that the server sends.

    `cookies` are those of a browser that was here before; with `token` they are got as its first visit does.
    """

    def __init__(
        self,
        address: str,
        *,
        token: str = "",
        cookies: Mapping[str, str] | None = None,
        received: Callable[[bytes], None] = lambda raw: None,
    ) -> None:
        self.address = address
        self.cookies = dict(cookies or {})
        self.query = ""
        self.session = ""
        self.page = ""
        """The hash by which Streamlit knows the page that was drawn last."""
        self._received = received
        self._drawn: dict[tuple[int, ...], tuple[Message, str, str]] = {}
        """What is drawn by its place: an element or a block, the number of its run, and its fragment."""
        self._run = ""
        self._fragments: set[str] = set()
        self._repeated: dict[str, float] = {}
        """Seconds by fragment that asks to be drawn again and again."""
        self._states: dict[str, WidgetState] = {}
        self._numbers = count(1)
        first = self.ask("/?" + urlencode({"token": token}) if token else "/", **HTML)
        if first.status == 303:
            self.ask(first.headers["location"], **HTML)
        self.ask("/_stcore/health")
        # The server's answer to a close is not awaited, as what it sent before may never have been read.
        connection = connect(
            address.replace("http", "ws", 1) + "/_stcore/stream",
            subprotocols=[Subprotocol("streamlit")],
            additional_headers={"Cookie": self._cookie_header()},
            origin=Origin(address),
            max_size=None,
            max_queue=None,
            close_timeout=0.1,
        )
        self._connected = ExitStack()
        self._stream = self._connected.enter_context(connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()

    def leave(self) -> None:
        """Close the connection, in the middle of a run too."""
        self._connected.close()

    def ask(self, path: str, **asked: Any) -> Answer:
        """Send a request with this browser's cookies, and keep those of the answer."""
        answer = ask(self.address, path, Cookie=self._cookie_header(), **asked)
        for one in answer.cookies:
            self.cookies |= {name: kept.value for name, kept in SimpleCookie(one).items()}
        self._received(answer.raw)
        return answer

    def _cookie_header(self) -> str:
        return "; ".join(f"{name}={value}" for name, value in self.cookies.items())

    def open(self, page: str = "", query: str = "") -> float:
        """Open a page ("" is the front page) as its link in the sidebar does; return the seconds until it was drawn."""
        self.ask_for(page, query)
        return self.finish()

    def ask_for(self, page: str = "", query: str = "") -> None:
        """Ask for a page, and do not wait for it."""
        self._states.clear()
        self.query, self.page = query.removeprefix("?"), ""
        self._send_rerun(page_name=page)

    def rerun(self) -> float:
        """Run the page again, as a changed widget does; return the seconds until it was drawn."""
        self._send_rerun()
        return self.finish()

    def _send_rerun(self, *, page_name: str = "", fragment_id: str = "") -> None:
        sent = BackMsg()
        state = sent.rerun_script
        state.query_string, state.page_script_hash, state.page_name = self.query, self.page, page_name
        state.fragment_id, state.is_auto_rerun = fragment_id, bool(fragment_id)
        state.context_info.url = f"{self.address}/{page_name}"
        state.context_info.timezone, state.context_info.locale = "UTC", "en-GB"
        state.widget_states.widgets.extend(self._states.values())
        self._since = time.perf_counter()
        self._send(sent)
        self._states = {one: held for one, held in self._states.items() if held.WhichOneof("value") not in TRIGGERS}

    def _send(self, message: BackMsg) -> None:
        self._stream.send(message.SerializeToString())

    def finish(self) -> float:
        """Wait until the page that was asked for is drawn; return the seconds since."""
        early = ForwardMsg.FINISHED_EARLY_FOR_RERUN
        while True:
            said = self._next()
            if said.WhichOneof("type") == "script_finished" and said.script_finished != early:
                self._tidy(fragment=said.script_finished == ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)
                return time.perf_counter() - self._since

    def wait(self) -> float:
        """Wait until no part of the page asks to be drawn again; return the seconds that this took."""
        since = time.perf_counter()
        while self._repeated and time.perf_counter() < since + WAIT:
            fragment, interval = next(iter(self._repeated.items()))
            time.sleep(interval)
            self._send_rerun(fragment_id=fragment)
            self.finish()
        assert not self._repeated, "the page did not come to rest"
        return time.perf_counter() - since

    def _next(self) -> ForwardMsg:
        """Take the next message to account, and return it."""
        raw = self._stream.recv(timeout=WAIT)
        assert isinstance(raw, bytes)
        self._received(raw)
        said = ForwardMsg()
        said.ParseFromString(raw)
        kind = said.WhichOneof("type")
        if kind == "new_session":
            self.session = said.new_session.initialize.session_id
            self._run, self._fragments = said.metadata.run.script_run_id, set(said.metadata.run.fragment_ids)
            if not self._fragments:
                self._repeated.clear()
        elif kind == "navigation":
            self.page = said.navigation.page_script_hash
        elif kind == "page_info_changed":
            self.query = said.page_info_changed.query_string
        elif kind == "auto_rerun":
            self._repeated[said.auto_rerun.fragment_id] = said.auto_rerun.interval
        elif kind == "stop_auto_rerun":
            for fragment in said.stop_auto_rerun.fragment_ids:
                self._repeated.pop(fragment, None)
        elif kind == "delta":
            self._draw(tuple(said.metadata.delta_path), said.delta)
        return said

    def _draw(self, place: tuple[int, ...], delta: Any) -> None:
        if delta.HasField("new_transient"):
            # A spinner over what stands there.
            return
        found = getattr(delta, delta.WhichOneof("type"))
        self._drawn[place] = (found, self._run, delta.fragment_id)
        one = next(iter(_widgets(found)), None)
        if one is not None and getattr(one, "set_value", False):
            # The server has changed it: what was chosen before holds no more.
            self._states.pop(one.id, None)

    def _tidy(self, *, fragment: bool) -> None:
        """Forget what the run has not drawn again, and the values of widgets that are gone."""
        self._drawn = {
            place: held
            for place, held in self._drawn.items()
            if held[1] == self._run or (fragment and held[2] not in self._fragments)
        }
        here = {one.id for one in self.widgets()}
        self._states = {one: held for one, held in self._states.items() if one in here}

    @property
    def drawn(self) -> Sequence[Any]:
        """The elements and blocks of the page, in the order of their places."""
        return [self._drawn[place][0] for place in sorted(self._drawn)]

    def widgets(self) -> Iterator[Any]:
        for one in self.drawn:
            yield from _widgets(one)

    def widget(self, name: str) -> Any:
        """Return the widget with a key or, where none has it, with a label."""
        every = list(self.widgets())
        keyed = [one for one in every if _key(one.id) == name]
        found = keyed or [one for one in every if getattr(one, "label", None) == name]
        assert found, f"no widget is called {name}, only {[_key(one.id) for one in every]}"
        return found[0]

    def has(self, name: str) -> bool:
        return any(name in (_key(one.id), getattr(one, "label", None)) for one in self.widgets())

    def texts(self) -> Iterator[str]:
        """Yield all texts of the page, those in tables and in data of components too."""
        for one in self.drawn:
            yield from _texts(one)

    def faults(self) -> list[str]:
        """Return the faults of the app that the page shows."""
        exceptions = [one.exception.message for one in self.drawn if _kind(one) == "exception"]
        alerts = [one.alert.body for one in self.drawn if _kind(one) == "alert"]
        return exceptions + [body for body in alerts if "fault of nereval" in body]

    def click(self, name: str) -> float:
        return self._change(name, trigger_value=True)

    def unfold(self, name: str, shown: bool = True) -> float:
        """Unfold or fold a popover or an expander, or switch a checkbox or a toggle."""
        return self._change(name, bool_value=shown)

    def write(self, name: str, text: str) -> float:
        """Write into a field, or choose an option of a selectbox."""
        return self._change(name, string_value=text)

    def choose(self, name: str, *options: str) -> float:
        """Choose options of a group of buttons or of a multiselect."""
        state = WidgetState(id=self.widget(name).id)
        state.string_array_value.data.extend(options)
        return self._set(state)

    def select(self, name: str, **selection: Any) -> float:
        """Select rows, columns, cells of a table, or points of a figure."""
        return self._change(name, string_value=json.dumps({"selection": selection}))

    def send(self, name: str, **values: Any) -> float:
        """Set values of a component of the app's own, as `setStateValue` does."""
        return self._change(name, json_value=json.dumps(values))

    def _change(self, name: str, **value: Any) -> float:
        return self._set(WidgetState(id=self.widget(name).id, **value))

    def _set(self, state: WidgetState) -> float:
        self._states[state.id] = state
        return self.rerun()

    def upload(self, name: str, files: Mapping[str, bytes]) -> float:
        """Drop files on an uploader, in place of those that it has."""
        number = f"files-{next(self._numbers)}"
        sent = BackMsg()
        sent.file_urls_request.request_id, sent.file_urls_request.session_id = number, self.session
        sent.file_urls_request.file_names.extend(files)
        self._send(sent)
        while (said := self._next()).file_urls_response.response_id != number:
            pass
        state = WidgetState(id=self.widget(name).id)
        for place, (file, content) in zip(said.file_urls_response.file_urls, files.items(), strict=True):
            answer = self.put_file(place.file_id, content, name=file)
            assert answer.status == 204, answer
            info = state.file_uploader_state_value.uploaded_file_info.add()
            info.name, info.size, info.file_id = file, len(content), place.file_id
            info.file_urls.CopyFrom(place)
        return self._set(state)

    def put_file(self, number: str, content: bytes, *, name: str = "f.txt", chunked: bool = False) -> Answer:
        """Send a file to the server under a number."""
        head = f'--edge\r\nContent-Disposition: form-data; name="f"; filename="{name}"\r\n\r\n'
        body = head.encode() + content + b"\r\n--edge--\r\n"
        parts = (body[place : place + MB // 8] for place in range(0, len(body), MB // 8)) if chunked else body
        return self._ask_file(number, method="PUT", body=parts, Content_Type="multipart/form-data; boundary=edge")

    def delete_file(self, number: str) -> Answer:
        return self._ask_file(number, method="DELETE")

    def _ask_file(self, number: str, **asked: Any) -> Answer:
        token = self.cookies["_streamlit_xsrf"]
        return self.ask(f"/_stcore/upload_file/{self.session}/{number}", X_Xsrftoken=token, **asked)

    def download(self, name: str) -> bytes:
        """Return the file that a button downloads; one that is yet to be made is asked for first."""
        button = self.widget(name)
        url = button.url
        if button.deferred_file_id:
            sent = BackMsg()
            asked = sent.backend_operation_request
            asked.request_id, asked.session_id = f"file-{next(self._numbers)}", self.session
            asked.deferred_file.file_id = button.deferred_file_id
            self._send(sent)
            while (said := self._next()).backend_operation_response.request_id != asked.request_id:
                pass
            assert not said.backend_operation_response.error_msg, said
            url = said.backend_operation_response.deferred_file.url
        answer = self.ask(url)
        assert answer.status == 200, (url, answer)
        return answer.raw


def _kind(one: Message) -> str:
    return str(one.WhichOneof("type"))


def _key(number: str) -> str:
    """Return the key in the number of a widget, which has two other parts in front."""
    return number.split("-", 2)[-1]


def _widgets(one: Message) -> Iterator[Any]:
    """Yield the widget that an element or a block is, where it is one."""
    kind = _kind(one)
    held = getattr(one, kind) if kind != "None" else None
    if str(getattr(held, "id", "")).startswith("$$ID-"):
        yield held


def _texts(message: Message) -> Iterator[str]:
    for field, held in message.ListFields():
        several = isinstance(held, Sequence | Mapping) and not isinstance(held, str | bytes)
        for value in (held.values() if isinstance(held, Mapping) else held) if several else (held,):
            if isinstance(value, Message):
                yield from _texts(value)
            elif isinstance(value, bytes) and field.full_name.endswith("ArrowData.data"):
                table = pa.ipc.open_stream(value).read_all()
                yield from table.column_names
                yield from (str(cell) for column in table.columns for cell in column.to_pylist())
            elif isinstance(value, str):
                yield value
