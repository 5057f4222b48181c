"""Readers of annotations that stand apart from the text and name places in it, by tools and shared tasks."""
