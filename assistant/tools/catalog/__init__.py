"""The tools that a model is offered, and their arguments.

Begin with `menu`. `approvals` holds back changed tools of untrusted servers, `arguments` fits a
model's arguments to a tool's schema, and `schema` validates them in bounded time.
"""
