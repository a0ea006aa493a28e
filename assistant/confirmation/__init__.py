"""Questions to a person before something risky happens, and the ways to answer them.

Begin with `witness` (answers by voice, PIN or phone) and `forms` (the words for yes and no in each
language). `pin` reads a spoken PIN and locks after wrong ones.
"""
