"""Ownership of uploads: a corpus belongs to who brought it, and others open it by a link once it is shared.

Who owns a corpus stands in the store beside its entries, so that it outlasts the server; of a corpus that is not stored
it is known as long as the server runs. A shared corpus has a key of 128 bits, which its link carries in place of the
digest: whoever knows the files knows the digest.
"""

from __future__ import annotations

import re
import secrets
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from threading import Lock

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from nereval_core.store import Store
from pages.shared.server import access

ACCOUNT = ""
"""The owner of what is read while the server answers this machine alone: the account on it, which is no visitor."""
EVERYBODY = "all"
"""The owner of a corpus that was read from the folder that the server offers. Earlier versions had another word, also
for what the account read, so that what they stored is nobody's where others reach the server."""
KEY = re.compile(r"s-[0-9a-f]{32}")
"""The key of a shared corpus, in the words of a link."""


@dataclass(frozen=True)
class Rights:
    """The owners of a corpus, and the key by which others open it, "" where it is not shared."""

    owners: tuple[str, ...] = ()
    key: str = ""


class Ownership:
    """Rights by digest of the corpus."""

    def __init__(self, store: Store | None) -> None:
        self._store = store
        self._lock = Lock()
        self._known: dict[str, Rights] = {}

    def rights(self, digest: str) -> Rights:
        if digest not in self._known:
            said = {} if self._store is None else self._store.remarks(digest)
            owners = said.get("owners", "")
            self._known[digest] = Rights(tuple(owners.split()), said.get("key", ""))
        return self._known[digest]

    def is_of(self, digest: str, owner: str) -> bool:
        return not {owner, EVERYBODY}.isdisjoint(self.rights(digest).owners)

    def add(self, digest: str, owner: str) -> None:
        with self._lock:
            old = self.rights(digest)
            self._keep(digest, replace(old, owners=tuple(dict.fromkeys((*old.owners, owner)))))

    def give_up(self, digest: str, owner: str) -> bool:
        """Take an owner away; return whether others are left."""
        with self._lock:
            old = self.rights(digest)
            left = tuple(one for one in old.owners if one != owner)
            self._keep(digest, replace(old, owners=left) if left else Rights())
            return bool(left)

    def share(self, digest: str) -> str:
        """Return the key of a corpus, a new one where it is not shared."""
        with self._lock:
            old = self.rights(digest)
            if not old.key:
                self._keep(digest, replace(old, key=f"s-{secrets.token_hex(16)}"))
            return self.rights(digest).key

    def withdraw(self, digest: str) -> None:
        """End the sharing of a corpus: its link opens nothing from now on."""
        with self._lock:
            self._keep(digest, replace(self.rights(digest), key=""))

    def shared(self, key: str) -> str:
        """Return the digest of the corpus with a key, "" where there is none."""
        stored = () if self._store is None else self._store.entries()
        digests = dict.fromkeys((*self._known, *(entry.digest for entry in stored)))
        return next((one for one in digests if self.rights(one).key == key), "") if KEY.fullmatch(key) else ""

    def forget(self, digest: str) -> None:
        """Forget a corpus that is gone."""
        self._known.pop(digest, None)

    def _keep(self, digest: str, rights: Rights) -> None:
        self._known[digest] = rights
        if self._store is not None:
            with suppress(OSError):
                self._store.remark(digest, owners=" ".join(rights.owners), key=rights.key)


def visitor() -> str:
    """Return the owner of what this session uploads: who is logged in, or its browser; without cookies the session."""
    if access.only_this_machine():
        return ACCOUNT
    if access.has_login():
        user = st.user.to_dict()
        said = f"user {user.get('iss', '')} {user.get('sub') or user.get('email')}"
    elif number := access.browser():
        said = f"browser {number}"
    else:
        context = get_script_run_ctx()
        said = f"session {context.session_id if context is not None else secrets.token_hex(16)}"
    return sha256(said.encode()).hexdigest()
