"""Measurements, as ratios within one run; see __main__.py."""
