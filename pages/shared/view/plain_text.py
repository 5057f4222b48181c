"""Text of a corpus inside labels and captions, which Streamlit reads as Markdown."""

import re

_MARKS = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~:$^=&\"'/])")
_LEAD = 120


def plain(text: str, limit: int = _LEAD) -> str:
    """Return Markdown that shows as the text itself, on one line and cut at `limit` characters.

    A colon is followed by a word joiner, or `:smile:` would become a picture, and so is an at sign, or an address
    would become a link.
    """
    shown = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    shown = shown if len(shown) <= limit else shown[: limit - 1] + "…"
    return _MARKS.sub(r"\\\1", shown).replace("\\:", "\\:\u2060").replace("@", "@\u2060")
