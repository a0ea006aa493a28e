"""The path of a tool call from a brain to the house and back.

Start with `toolbox`, which handles a call from start to finish. `ledger` makes sure that each call
runs only once, `guards` applies the rate limits and tracks taint, `confirmations` asks the person,
`executor` sends the call, `verification` checks its effect, `outcomes` describes the result in a
sentence, and `call_log` records the call.
"""
