"""Texts with marks in them, tags around spans, behind words or in columns: a reader a module."""
