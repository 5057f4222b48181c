"""Ownership of uploads: a corpus belongs to who brought it, and others open it by a link once it is shared.

Who owns a corpus stands in its entry of the store, so that it outlasts the server; of a corpus that is not stored it
is known as long as the server runs. The key of an input (`read`) is another for each owner, so that two who bring the
same texts and spans have two corpora, each with its names, its files and a link of its own. A shared corpus has a key
of 128 bits, which its link carries in place of the digest: whoever knows the files knows the digest.
"""

from __future__ import annotations

import re
import secrets
from hashlib import sha256
from threading import Lock

import streamlit as st

from nereval_core.store import Entry, Store
from pages.shared.server import access
from pages.shared.streamlit_internals import session_id

ACCOUNT = ""
"""The owner of what is read while the server answers this machine alone: the account on it, which is not a visitor."""
EVERYBODY = "all"
"""The owner of a corpus that was read from the folder that the server offers."""
KEY = re.compile(r"s-[0-9a-f]{32}")
"""The key of a shared corpus, in the words of a link."""


class Ownership:
    """Owners of entries of the store, and the keys by which corpora are shared, both by the key of the input."""

    def __init__(self, store: Store | None) -> None:
        self._store = store
        self._lock = Lock()
        self._owners: dict[str, str] = {}
        self._keys: dict[str, str] = {}

    def owner(self, entry: Entry) -> str | None:
        """Return the owner of an entry, None where it is damaged or of another version."""
        if entry.key not in self._owners and self._store is not None:
            if (account := self._store.account(entry)) is None:
                return None
            self._owners[entry.key] = account.owner
        return self._owners.get(entry.key)

    def key(self, read: str) -> str:
        """Return the key by which others open what was read from an input, "" where it is not shared.

        Another server on the same store may have withdrawn it a moment ago.
        """
        return self._keys.get(read, "") if self._store is None else self._store.remarks(read).get("key", "")

    def share(self, read: str) -> str:
        """Return the key of what was read from an input, a new one where it is not shared.

        Raises:
            OSError: the store cannot be written to.
        """
        with self._lock:
            if not self.key(read):
                self._keep(read, f"s-{secrets.token_hex(16)}")
            return self.key(read)

    def withdraw(self, read: str) -> None:
        """End the sharing of what was read from an input: its link opens nothing from now on.

        Raises:
            OSError: the store cannot be written to, and the link still opens.
        """
        with self._lock:
            self._keep(read, "")

    def shared(self, key: str) -> str:
        """Return the input of what is shared by a key, "" where there is none."""
        stored = () if self._store is None else self._store.entries()
        inputs = dict.fromkeys((*self._keys, *(entry.key for entry in stored)))
        return next((read for read in inputs if self.key(read) == key), "") if KEY.fullmatch(key) else ""

    def forget(self, read: str) -> None:
        """Forget what is gone."""
        self._owners.pop(read, None)
        self._keys.pop(read, None)

    def _keep(self, read: str, key: str) -> None:
        if self._store is not None:
            self._store.remark(read, key=key)
        self._keys[read] = key


def visitor() -> str:
    """Return the owner of what this session uploads: who is logged in, or its browser; without cookies the session."""
    if access.only_this_machine():
        return ACCOUNT
    if access.has_login():
        user = st.user.to_dict()
        identity = f"user {user.get('iss', '')} {user.get('sub') or user.get('email')}"
    elif number := access.browser():
        identity = f"browser {number}"
    else:
        identity = f"session {session_id() or secrets.token_hex(16)}"
    return sha256(identity.encode()).hexdigest()
