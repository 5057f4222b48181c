"""What the layers share that every request passes before Streamlit sees it."""

from __future__ import annotations

from collections.abc import Callable

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Send


class Layer:
    """A layer of the server: it answers a request itself, or hands it on to `app`."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app


def changing_headers(send: Send, change: Callable[[MutableHeaders], object]) -> Send:
    """Return what sends an answer after its headers were changed."""

    async def send_changed(message: Message) -> None:
        if message["type"] == "http.response.start":
            change(MutableHeaders(scope=message))
        await send(message)

    return send_changed
