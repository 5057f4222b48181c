"""Tables, figures, highlighted texts, slides and signatures, for pages, files and the terminal."""

TABLES = ("json", "csv", "parquet", "excel", "markdown", "latex", "html")
"""The forms in which a verb of the command line writes its tables."""

PAPER_COLUMNS = ("P", "R", "F1", "support", "ACT", "MIS", "SPU", "SER")
"""The columns that tables of scores for papers can have."""

METHODS_FORMS = (".md", ".txt", ".tex", ".bib")
"""Endings of the files that hold a methods paragraph, or the works that it cites."""
