"""seqeval 1.2.2 by the entities of the convention `seqeval`: `metrics`, `reporters` and `scheme`.

Its own modules stand here under its own names, so that `sys.modules["seqeval"]` can be this package.
"""

from nereval_core.compat.seqeval import metrics, reporters, scheme

__all__ = ("metrics", "reporters", "scheme")
