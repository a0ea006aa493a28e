"""The tools that a model is offered, and the arguments of its calls.

Start with `menu`. `approvals` withholds tools of untrusted servers that have changed, `arguments`
fits a model's arguments to a tool's schema, and `schema` validates them in bounded time.
"""
