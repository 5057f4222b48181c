"""Parts of the Documents page: the document, its highlighted text, controls and verdicts."""
