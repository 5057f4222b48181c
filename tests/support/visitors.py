"""Visitors of the app without a browser: connected as a page is, with its cookies, widgets, uploads and downloads.

    with Visitor(address, token=TOKEN) as visitor:
        seconds = visitor.open("Inspect", "corpus=0123&by=strict")
        seconds = visitor.click("upload_read")

A widget is named by its key in the app, or by its label.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from http.cookies import SimpleCookie
from itertools import count
from typing import Any, Self
from urllib.parse import urlencode, urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.state.session_state import STREAMLIT_INTERNAL_KEY_PREFIX
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

from tests.support.drawn_page import DrawnPage
from tests.support.http_requests import HTML, MB, WAIT, Answer, ask

TRIGGERS = ("trigger_value", "string_trigger_value", "json_trigger_value")
"""Values of widgets that hold for one run."""


class Visitor:
    """A session of the app. `received` is called with the bytes of each message, file and header that the server sends.

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
        self.shown = DrawnPage()
        self._repeated: dict[str, float] = {}
        """Seconds by fragment that asks to be drawn again and again."""
        self._states: dict[str, WidgetState] = {}
        self._numbers = count(1)
        self._chosen = 0
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
        self._received("\n".join(f"{name}: {value}" for name, value in answer.headers.items()).encode("latin-1"))
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
                self.shown.end(fragment=said.script_finished == ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)
                here = {one.id for one in self.shown.widgets()}
                self._states = {one: held for one, held in self._states.items() if one in here}
                assert not (faults := self.shown.faults()), faults
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
        return self.receive(WAIT)

    def receive(self, seconds: float) -> ForwardMsg:
        """Take the next message to account, and return it.

        Raises:
            TimeoutError: none comes within so many seconds.
        """
        raw = self._stream.recv(timeout=seconds)
        assert isinstance(raw, bytes)
        self._received(raw)
        said = ForwardMsg()
        said.ParseFromString(raw)
        kind = said.WhichOneof("type")
        if kind == "new_session":
            self.session = said.new_session.initialize.session_id
            self.shown.begin(said.metadata.run.script_run_id, said.metadata.run.fragment_ids)
            if not said.metadata.run.fragment_ids:
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
            widget = self.shown.draw(tuple(said.metadata.delta_path), said.delta)
            if getattr(widget, "set_value", False):
                # The server has changed it: what was chosen before holds no more.
                self._states.pop(widget.id, None)
        return said

    def click(self, name: str) -> float:
        return self._change(name, trigger_value=True)

    def unfold(self, name: str, shown: bool = True) -> float:
        """Unfold or fold a popover or an expander, or switch a checkbox or a toggle."""
        return self._change(name, bool_value=shown)

    def unfold_all(self, names: Iterable[str]) -> float:
        """Unfold popovers and expanders at once."""
        states = [WidgetState(id=self.shown.widget(name).id, bool_value=True) for name in names]
        self._states |= {state.id: state for state in states}
        return self.rerun()

    def write(self, name: str, text: str) -> float:
        """Write into a field, or choose an option of a selectbox."""
        return self._change(name, string_value=text)

    def choose(self, name: str, *options: str) -> float:
        """Choose options of a group of buttons or of a multiselect."""
        state = WidgetState(id=self.shown.widget(name).id)
        state.string_array_value.data.extend(options)
        return self._set(state)

    def select(self, name: str, **selection: Any) -> float:
        """Select rows, columns, cells of a table, or points of a figure."""
        return self._change(name, string_value=json.dumps({"selection": selection}))

    def send(self, name: str, **values: Any) -> float:
        """Set values of a component of the app's own, as `setStateValue` does."""
        return self._change(name, json_value=json.dumps(values))

    def choose_in_bar(self, act: str, value: str = "") -> float:
        """Choose in the context bar: a "criterion", a "system", a "reference", or "swap" the last two."""
        self._chosen += 1
        return self.send(
            "context_bar", out={"mount": "v", "events": [{"seq": self._chosen, "act": act, "value": value}]}
        )

    def open_menu(self, name: str) -> float:
        """Open a menu of the page: "criteria", "types", "share" or "export"; "" closes the one of exports."""
        return self.send("page_end" if name in ("export", "") else "bar_menu", open=name)

    def trigger(self, name: str, event: str, value: Any) -> float:
        """Send an event of a component of the app's own, as `setTriggerValue` does."""
        events = f"{STREAMLIT_INTERNAL_KEY_PREFIX}_{self.shown.widget(name).id}__events"
        return self._set(WidgetState(id=events, json_trigger_value=json.dumps([{"event": event, "value": value}])))

    def _change(self, name: str, **value: Any) -> float:
        return self._set(WidgetState(id=self.shown.widget(name).id, **value))

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
        state = WidgetState(id=self.shown.widget(name).id)
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

    def begin_file(self, number: str, size: int) -> socket.socket:
        """Announce a file of some bytes, and return the connection on which two of them were sent."""
        at = urlsplit(self.address)
        connection = socket.create_connection((at.hostname, at.port), WAIT)
        lines = (
            f"PUT /_stcore/upload_file/{self.session}/{number} HTTP/1.1",
            f"Host: {at.netloc}",
            f"Cookie: {self._cookie_header()}",
            f"X-Xsrftoken: {self.cookies['_streamlit_xsrf']}",
            "Content-Type: multipart/form-data; boundary=edge",
            f"Content-Length: {size}",
            "Expect: 100-continue",
        )
        connection.sendall("\r\n".join((*lines, "", "--")).encode())
        return connection

    def delete_file(self, number: str) -> Answer:
        return self._ask_file(number, method="DELETE")

    def _ask_file(self, number: str, **asked: Any) -> Answer:
        token = self.cookies["_streamlit_xsrf"]
        return self.ask(f"/_stcore/upload_file/{self.session}/{number}", X_Xsrftoken=token, **asked)

    def download(self, name: str) -> bytes:
        """Return the file that a button downloads."""
        url = self.file_address(name)
        answer = self.ask(url)
        assert answer.status == 200, (url, answer)
        return answer.raw

    def file_address(self, name: str) -> str:
        """Return the address of the file that a button downloads; one that is yet to be made is asked for."""
        button = self.shown.widget(name)
        if not button.deferred_file_id:
            return str(button.url)
        sent = BackMsg()
        asked = sent.backend_operation_request
        asked.request_id, asked.session_id = f"file-{next(self._numbers)}", self.session
        asked.deferred_file.file_id = button.deferred_file_id
        self._send(sent)
        while (said := self._next()).backend_operation_response.request_id != asked.request_id:
            pass
        assert not said.backend_operation_response.error_msg, said
        return str(said.backend_operation_response.deferred_file.url)
