"""Tool calls: offering tools to a model, judging its calls, and carrying them out.

Begin with `execution.toolbox` (one call from beginning to end) and `policy.engine` (allows,
confirms or refuses a call). `catalog` holds the tools that a model is offered, `house` finds the
entities that a call reaches, `undo` restores earlier states, `builtin` has Hearth's own tools, and
`vocabulary` the words of six languages. Each package imports only those before it: `vocabulary`,
`house`, `catalog`, `policy`, `execution`.
"""
