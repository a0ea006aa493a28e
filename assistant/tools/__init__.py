"""Tool calls: offer tools to a model, judge the model's calls, and run them.

Start with `execution.toolbox` (a call from beginning to end) and `policy.engine` (which allows a
call, asks about it or refuses it). `catalog` holds the tools that a model is offered, `house` finds
the entities that a call reaches, `undo` restores earlier states, `builtin` contains Hearth's own
tools, and `vocabulary` has the word lists of six languages. Each package imports only those before
it in this order: `vocabulary`, `house`, `catalog`, `policy`, `execution`.
"""
