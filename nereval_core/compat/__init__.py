"""Drop-ins for published scorers: their functions, arguments and results, counted by the conventions' code.

`from nereval_core.compat import seqeval` stands for seqeval 1.2.2, `nervaluate` for nervaluate 1.2.1.
"""
