"""Questions to a person before something risky happens, and who may answer them.

Begin with `wording` (what the question says) and `weigh` (what the answer was). `pin` hears a
spoken PIN, `phone` asks on a phone, `witness` tells a person from a loudspeaker and keeps the
room silent meanwhile.
"""
