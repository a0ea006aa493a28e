"""Tool calls: offer tools to a model, judge the calls that the model makes, and run them.

Start with `execution.toolbox`, which handles a call from beginning to end, and `policy.engine`,
which decides whether a call is allowed. The packages `vocabulary`, `house`, `catalog`, `policy` and
`execution` are layers in this order: none of them imports from a later one.
"""
