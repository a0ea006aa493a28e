"""What may run, what is asked about, and what never runs. Pure, but for `judge` and `choices`.

Begin with `engine`, which judges one call or one sentence. `targeting` decides about calls that
select things, `scope` and `words` find what the person's own words mean, `corrections` puts
arguments right, `openers` and `risk` say what a thing could do, `rules` holds it against the
owner's rules, and `decisions` takes the strictest ruling of all. `judge` knows the live house;
`choices` keeps the mode and the ratings.
"""
