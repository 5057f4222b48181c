"""Analyses of scores, one folder for each question; the modules here are shared by several of them.

The questions are `agreement` between annotators, `comparison` of systems, `consistency` of one layer, influence of the
`criteria`, classes of `errors`, scores of `slices`, and entity `linking`.
"""
