"""The policy for tool calls: allow, confirm or refuse. Except for `judge`, `choices` and one
function of `fields`, all its code is pure.

Start with `engine`, which judges one call or sentence. `targeting` judges calls that select
entities, `scope` and `words` interpret the person's own words, and `corrections` corrects
arguments. `openers` and `risk` determine what an entity could do, `rules` applies the owner's
rules, and `decisions` picks the strictest ruling. `judge` adds the live state of the house,
`fields` checks script fields, and `choices` stores the mode and the ratings.
"""
