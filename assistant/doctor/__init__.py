"""Checks of `hearth doctor`: this machine, sound, the house, Gemini and Hearth itself. Start with
`whole`, which runs them."""
