"""Plotly figures made from tables, and figures as files; importing this folder does not import Plotly."""
