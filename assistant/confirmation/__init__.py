"""Questions to a person before something risky happens, and who may answer them.

Begin with `witness` (who answers, by voice, PIN or phone) and `forms` (what a yes is, in each
language). `pin` reads a spoken PIN and locks after wrong ones.
"""
