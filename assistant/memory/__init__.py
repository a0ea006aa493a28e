"""Facts that people ask Hearth to remember: whose they are, about what, since when.

What was remembered is data, to a model as to everything else here: no decision about a call ever
looks at it.
"""
