"""Tool calls and what stands between a model's wish and the house.

Begin with `toolbox` (one call from beginning to end) and `policy` (what may run, what is asked
about and what never runs; `rules`, `weighing` and `openers` are its parts). `menu` is
what a model is offered, `mend` and `resolve` correct names, `verify` checks that a thing has moved.
`undo` takes steps back, `builtin` holds Hearth's own tools, `vocabulary` the words of six
languages.
"""
