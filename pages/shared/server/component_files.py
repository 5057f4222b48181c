"""Scripts and styles of components as files, which a browser fetches once and keeps.

Streamlit sends the script and the style of a component with each run that draws it, two thirds of what a click on
Inspect costs to send. Here it sends a few lines that import a file, which is named by the digest of its content.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import streamlit as st
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from pages.shared.streamlit_internals import url_path

FOLDER = "component-files"
KEEP = {"Cache-Control": "private, max-age=31536000, immutable"}
"""A file of another content has another name."""
LOADER = """\
const { default: draw, componentStyle } = await import(new URL(ADDRESS, location.href).href);
export default (component) => {
  if (!component.parentElement.querySelector(":scope > style"))
    component.parentElement.prepend(Object.assign(document.createElement("style"), { textContent: componentStyle }));
  return draw(component);
};
"""
"""A component's script for Streamlit: its style goes as it comes, with the component."""
_FILES: dict[str, str] = {}


def component(name: str, *, js: str, css: str = "") -> Any:
    """Declare a component of a script with a default export, and a style; return what draws it on a page."""
    content = f"export const componentStyle = {json.dumps(css)};\n{js}"
    file = f"{sha256(content.encode()).hexdigest()[:32]}.js"
    _FILES[file] = content
    address = json.dumps(url_path(f"{FOLDER}/{file}"))
    mount = st.components.v2.component(name, js=LOADER.replace("ADDRESS", address), isolate_styles=False)

    def draw(*, data: Mapping[str, object] | None = None, **options: Any) -> Any:
        # Streamlit asks of each list whether it is a table of one of twenty libraries, of a tuple it does not.
        values = data and {name: tuple(value) if type(value) is list else value for name, value in data.items()}
        return mount(data=values, **options)

    return draw


def route() -> Route:
    """Return the route of the files."""
    return Route(url_path(f"{FOLDER}/{{file}}"), _answer)


async def _answer(request: Request) -> Response:
    content = _FILES.get(request.path_params["file"])
    if content is None:
        return PlainTextResponse("There is no such file.\n", 404)
    return Response(content, media_type="text/javascript", headers=KEEP)
