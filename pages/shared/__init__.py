"""Code that pages share: view and link, data and caches, components, and a folder for each page."""

import os

from nereval_core.cli import BLAS_THREADS

# Modules of the server come after this one, and numpy after these: `streamlit run` does not pass the command line.
os.environ.setdefault(BLAS_THREADS, "1")
