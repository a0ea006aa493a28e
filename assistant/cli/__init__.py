"""One module for each command. `main` finds it; only `terminal` and `console` print."""
