"""Going back: how things were before the last calls, and what came of putting them back."""
