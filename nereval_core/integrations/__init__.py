"""Our scores in other libraries: a metric for `evaluate`, a scorer for spaCy. Each imports the library it is for."""
