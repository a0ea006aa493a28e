"""The tools that a model is offered, and the arguments that they take.

Begin with `menu`. `approvals` holds back tools of untrusted servers that have changed, `arguments`
makes what a model gave fit a tool's schema, and `schema` validates with bounded work.
"""
