"""Keep what lives as long as the server out of the way of the collector of cycles. No Streamlit in here.

Streamlit collects after every run of a page, and walks through all objects there are: through the modules alone it
takes longer than many a page.
"""

from __future__ import annotations

import gc
import sys

_MODULES = 50
"""So many modules more, and what is there is set aside anew: pages import theirs when they are first drawn."""
_known = 0


def settle() -> None:
    """Set aside what is there after a collection, if much was imported since the last time.

    What is set aside still goes when nothing refers to it any more; only cycles among it stay.
    """
    global _known
    if len(sys.modules) >= _known + _MODULES:
        _known = len(sys.modules)
        set_aside()


def set_aside() -> None:
    """Set aside what is there: much has come in that lives long."""
    gc.collect()
    gc.freeze()
