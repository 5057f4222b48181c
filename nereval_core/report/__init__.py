"""What is shown and handed out: tables, figures, pages, signatures."""

TABLES = ("json", "csv", "parquet", "excel", "markdown", "latex", "html")
"""The forms in which a command writes its tables."""
