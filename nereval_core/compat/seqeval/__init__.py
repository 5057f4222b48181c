"""The functions of seqeval 1.2.2, by the entities of the convention `seqeval`: `metrics` and `scheme`."""

from nereval_core.compat.seqeval import metrics, scheme

__all__ = ("metrics", "scheme")
