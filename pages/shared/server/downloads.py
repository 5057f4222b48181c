"""Files made for a download stay until the page that offers them runs again.

Streamlit makes such a file when it is asked for, and counts it as used by nobody: the second run of any page that ends
before the browser has fetched it removes it. On a server that many use these are a few milliseconds.
"""

from __future__ import annotations

from pathlib import PurePosixPath

from streamlit.runtime.media_file_manager import MediaFileManager


def keep_downloads() -> None:
    """Have Streamlit count a file that was made for a download as used by the session that asked for it."""
    make = MediaFileManager.execute_deferred

    def make_and_keep(self: MediaFileManager, file_id: str) -> str:
        address = make(self, file_id)
        with self._lock:
            asked = self._deferred_callables.get(file_id)
            used = self._files_by_session_and_coord.get(asked["session_id"]) if asked is not None else None
            if asked is not None and used is not None:
                used[f"file of {asked['coordinates']}"] = PurePosixPath(address).stem
        return address

    MediaFileManager.execute_deferred = make_and_keep  # type: ignore[method-assign]
