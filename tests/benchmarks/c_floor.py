"""The floor of aligning: a sweep in C over sorted columns in which each span overlaps one of the other side at most."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from nereval_core.alignment.codes import CONTAIN, END, EQUAL, SAME_TYPE, START, UNALIGNED, Spans
from tests.benchmarks.generated import Generated

SOURCE = f"""
#include <stdint.h>
typedef struct {{ const int32_t *doc, *start, *end; const int16_t *type; int64_t size; uint8_t *code; }} Side;
void sweep(Side g, Side p, const int64_t *base) {{
    int64_t i = 0, j = 0;
    while (i < g.size && j < p.size) {{
        int64_t of_gold = base[g.doc[i]], of_pred = base[p.doc[j]];
        int64_t gs = of_gold + g.start[i], ge = of_gold + g.end[i];
        int64_t ps = of_pred + p.start[j], pe = of_pred + p.end[j];
        if (pe <= gs) p.code[j++] = {UNALIGNED};
        else if (ge <= ps) g.code[i++] = {UNALIGNED};
        else {{
            int start = gs == ps, end = ge == pe;
            int contains = (gs <= ps && pe <= ge) || (ps <= gs && ge <= pe);
            uint8_t code = (start && end) * {EQUAL} | start * {START} | end * {END} | contains * {CONTAIN};
            code |= (g.type[i] == p.type[j]) * {SAME_TYPE};
            g.code[i++] = p.code[j++] = code;
        }}
    }}
    while (i < g.size) g.code[i++] = {UNALIGNED};
    while (j < p.size) p.code[j++] = {UNALIGNED};
}}
"""


class _Side(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("doc", "start", "end", "type")),
        ("size", ctypes.c_int64),
        ("code", ctypes.c_void_p),
    )


def c_sweep(data: Generated) -> tuple[Callable[[], object], tuple[np.ndarray, np.ndarray]] | None:
    """Return the sweep over untangled spans and the codes that it writes on both sides; None without a C compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "sweep.so"
        command = [compiler, "-O3", "-shared", "-fPIC", "-x", "c", "-", "-o", str(library)]
        subprocess.run(command, input=SOURCE, text=True, check=True)
        sweep = ctypes.CDLL(str(library)).sweep
    sweep.argtypes = (_Side, _Side, ctypes.c_void_p)
    codes = np.empty(len(data.gold.doc), np.uint8), np.empty(len(data.pred.doc), np.uint8)
    sides = [_side(spans, code) for spans, code in zip((data.gold, data.pred), codes, strict=True)]
    # The arrays live as long as `data` and `codes`, which the caller holds.
    return lambda: sweep(*sides, data.base.ctypes.data), codes


def _side(spans: Spans, code: np.ndarray) -> _Side:
    columns = [getattr(spans, name).ctypes.data for name in ("doc", "start", "end", "type")]
    return _Side(*columns, len(code), code.ctypes.data)
