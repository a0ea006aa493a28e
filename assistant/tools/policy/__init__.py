"""Policy of tool calls: allow, confirm or refuse. Pure, except for `judge` and `choices`.

Begin with `engine`, which judges one call or sentence. `targeting` decides about calls that select
entities, `scope` and `words` find the meaning of the person's own words, and `corrections` fixes
arguments. `openers` and `risk` say what an entity could do, `rules` applies the owner's rules, and
`decisions` takes the strictest ruling of all. `judge` knows the live house, and `fields` the fields
of scripts; `choices` keeps the mode and the ratings.
"""
