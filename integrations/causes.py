"""What an error holds and what caused it: libraries pack the telling one deep."""

from collections.abc import Iterator


def causes(error: BaseException) -> Iterator[BaseException]:
    """The error, what it holds and what caused it, outermost first."""
    yield error
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from causes(inner)
    cause = error.__cause__ or error.__context__
    if cause is not None:
        yield from causes(cause)
