"""The path of one call from a brain to the house and back.

Begin with `toolbox`, which handles each call from beginning to end. `ledger` claims a call once,
`guards` has limits and taint, `confirmations` asks a person, `executor` sends, `verification`
checks the effect, `outcomes` words the result, and `call_log` records it.
"""
