"""Formats of biomedical corpora and services that need no folder of their own: a reader a module."""
