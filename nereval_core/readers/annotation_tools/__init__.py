"""Exports of tools for annotation: doccano, Label Studio and Prodigy."""
