"""The brain that says sentences to Home Assistant's own conversation engine."""
