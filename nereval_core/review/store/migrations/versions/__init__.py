"""Revisions of the tables, one per file."""
