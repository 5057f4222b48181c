"""Faults on a page: problems of input are shown kindly, others logged under a number that the visitor sees."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from nereval_core.problems import FormatError
from pages.shared.data import masks
from pages.shared.view.text import show_problems

_LOG = logging.getLogger("nereval")


class PageError(Exception):
    """A fault of the program, as visitors see it: without the words of the exception behind it."""


@contextmanager
def guarded() -> Iterator[None]:
    """Show what is wrong with input line by line; log anything else and show an id to find it by.

    A fault is shown as an exception of the page, so that whoever tests the page sees that it failed.
    """
    try:
        yield
    except FormatError as error:
        show_problems([masks.mask_message(line) for line in error.lines()])
    except Exception:
        number = secrets.token_hex(4)
        _LOG.exception("error %s", number)
        st.exception(
            PageError(f"This is a fault of nereval, not of your files. The server's log has it under {number}.")
        )
