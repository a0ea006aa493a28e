"""Questions to a person before something risky happens, and who may answer them.

Begin with `wording` (what the question says) and `weigh` (what the answer was). `pin` and `digits`
hear a spoken PIN, `phone` asks on a phone, `quiet` keeps the room silent meanwhile, `witness` tells
a person from a loudspeaker.
"""
