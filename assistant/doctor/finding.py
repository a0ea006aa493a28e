"""Findings and the checks that make them. Each check runs by itself with a time limit."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

Status = Literal["ok", "warn", "fail"]
Scene = TypeVar("Scene")  # object that a check examines
Watch = Callable[[str], None]  # called with the name of each check as it begins; must be quick

LIMIT_S = 15.0  # time limit of one check in seconds


@dataclass(frozen=True, slots=True)
class Found:
    """State of one thing."""

    status: Status
    detail: str  # description, a sentence or less
    mend: str = ""  # what to do about it; "" if nothing is wrong


@dataclass(frozen=True, slots=True)
class Finding:
    """A check's name and its result, as printed by `hearth doctor --json`."""

    check: str
    status: Status
    detail: str
    mend: str


@dataclass(frozen=True, slots=True)
class Group:
    """Findings shown under one title."""

    title: str
    findings: Sequence[Finding]


@dataclass(frozen=True, slots=True)
class Check(Generic[Scene]):
    """One line of the doctor's table. `look` only raises programming errors.

    To add a check, write its function and put it into a table such as `box.CHECKS`.
    """

    name: str
    look: Callable[[Scene], Awaitable[Found]]
    limit_s: float = LIMIT_S


def good(detail: str) -> Found:
    """Return a result without problems."""
    return Found("ok", detail)


def odd(detail: str, mend: str) -> Found:
    """Return a warning: Hearth works apart from this."""
    return Found("warn", detail, mend)


def bad(detail: str, mend: str) -> Found:
    """Return a problem that keeps Hearth from working."""
    return Found("fail", detail, mend)


def unwatched(name: str) -> None:
    """Ignore progress."""


def finding(check: str, found: Found) -> Finding:
    return Finding(check, found.status, found.detail, found.mend)


async def examine(
    checks: Iterable[Check[Scene]], scene: Scene, watch: Watch = unwatched
) -> list[Finding]:
    """Run the checks one after the other, and return their findings in order.

    A check that takes too long has failed.
    """
    findings = []
    for check in checks:
        watch(check.name)
        try:
            async with asyncio.timeout(check.limit_s):
                found = await check.look(scene)
        except TimeoutError:
            found = bad(
                f"no result within {check.limit_s:g} s",
                "try again; if it fails again, run it with --debug",
            )
        findings.append(finding(check.name, found))
    return findings
