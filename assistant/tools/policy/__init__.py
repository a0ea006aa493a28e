"""The policy for tool calls: allow, confirm or refuse.

Start with `engine`, which judges one call or sentence. `judge` adds the live state of the house,
and `choices` stores the mode and the ratings.
"""
