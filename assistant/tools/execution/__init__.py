"""The path of a tool call from a brain to the house and back.

Start with `toolbox`, which handles a call from start to finish. `executor` sends the call, and the
other modules check, record or describe it.
"""
