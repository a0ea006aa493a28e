"""`hearth doctor`: looks at everything that Hearth needs, and says what to do where it lacks."""
