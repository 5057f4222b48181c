"""The verbs of the command line: a file is a verb, a folder the first of two words. See `nereval_core.cli.Verb`."""
