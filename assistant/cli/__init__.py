"""One module for each command; `main` finds it, `terminal` and `console` are the only ones that
print."""
