"""The tools that a model is offered, and their arguments.

Begin with `menu`. `approvals` holds back changed tools of untrusted servers, `arguments` makes a
model's arguments fit a tool's schema, and `schema` validates with bounded work.
"""
