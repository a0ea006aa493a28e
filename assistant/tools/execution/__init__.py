"""The way of one call from a brain to the house and back.

Begin with `toolbox`, which takes each call from beginning to end. `requests` claims a call once,
`guards` limits and taints, `confirmations` asks a person, `executor` sends, `verification` checks
that a thing has moved, `outcomes` words what came of it, and `call_log` writes it down.
"""
