"""The verbs of the library, a file each, and loading a corpus for them, the command line and the pages."""
