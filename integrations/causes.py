"""What an error holds and what caused it: libraries pack the telling one deep."""

import traceback
from collections.abc import Iterator

from integrations.errors import IntegrationError


def causes(error: BaseException) -> Iterator[BaseException]:
    """The error, what it holds and what caused it, outermost first."""
    yield error
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from causes(inner)
    cause = error.__cause__ or error.__context__
    if cause is not None:
        yield from causes(cause)


def unpacked(error: BaseException) -> BaseException:
    """The error that came first of those in task groups, which wrap what their tasks raise."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def first_of(group: BaseExceptionGroup[IntegrationError]) -> IntegrationError:
    """The error that came first, however deep it is packed."""
    error = unpacked(group)
    assert isinstance(error, IntegrationError)
    return error


def where_raised(error: BaseException) -> str:
    """The calls that led to an error, outermost first, on one line and without its own words."""
    frames = traceback.extract_tb(error.__traceback__)
    return ", ".join(f"{one.name} ({one.filename}:{one.lineno})" for one in frames)
