"""Tool calls: offering tools to a model, judging its calls, and carrying them out.

Start with `execution.toolbox` (one call from beginning to end) and `policy.engine` (allows,
confirms or refuses a call). `catalog` holds the tools offered to a model, `house` finds the
entities that a call reaches, `undo` restores earlier states, `builtin` contains Hearth's own tools,
and `vocabulary` the words of six languages. Each package imports only the ones before it in this
order: `vocabulary`, `house`, `catalog`, `policy`, `execution`.
"""
