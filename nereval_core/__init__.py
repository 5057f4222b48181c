"""Score named entity annotations and keep, for every span, the decision and the reason."""

__version__ = "0.1.0"
