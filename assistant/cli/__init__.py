"""One module for each command; `main` finds it, `terminal` and `paper` are the only ones that
print."""
