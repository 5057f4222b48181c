"""Texts with marks in them, tags around spans or behind words: a reader a module."""
