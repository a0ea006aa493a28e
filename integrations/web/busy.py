"""The box cannot do it just now."""


class Busy(Exception):
    """Not now: somebody else is being served, or too much waits."""
