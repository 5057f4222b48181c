"""Verdicts on records: the panel, lists and batches."""
