"""`hearth doctor`'s checks of the machine, sound, the house and Gemini.

`whole` runs all of them; start reading there.
"""
