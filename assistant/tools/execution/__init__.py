"""The path of a tool call from a brain to the house and back.

Begin with `toolbox`, which handles a call from start to finish. `ledger` makes sure that each call
runs only once, `guards` limits and taints calls, `confirmations` asks the person, `executor` sends
the call, `verification` checks its effect, `outcomes` puts the result into a sentence, and
`call_log` records it.
"""
