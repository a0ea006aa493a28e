"""Findings, and the checks that make them: each run by itself, each with a limit."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

Status = Literal["ok", "warn", "fail"]
Scene = TypeVar("Scene")  # what a check looks at
Watch = Callable[[str], None]  # is told of each check by its name when it begins; must be quick

LIMIT_S = 15.0  # of one check


@dataclass(frozen=True, slots=True)
class Found:
    """The state of one thing."""

    status: Status
    detail: str  # what is, a sentence or less
    mend: str = ""  # what a person does about it; "" where nothing is wrong


@dataclass(frozen=True, slots=True)
class Finding:
    """A check's name and what it found, as `hearth doctor --json` prints it."""

    check: str
    status: Status
    detail: str
    mend: str


@dataclass(frozen=True, slots=True)
class Group:
    """Findings that belong together, for people."""

    title: str
    findings: Sequence[Finding]


@dataclass(frozen=True, slots=True)
class Check(Generic[Scene]):
    """One line of the doctor's table. `look` may raise nothing but what means a programming error.

    To add a check, write its function and put it into a table such as `box.CHECKS`.
    """

    name: str
    look: Callable[[Scene], Awaitable[Found]]
    limit_s: float = LIMIT_S


def good(detail: str) -> Found:
    """All is well."""
    return Found("ok", detail)


def odd(detail: str, mend: str) -> Found:
    """Hearth works, but for this."""
    return Found("warn", detail, mend)


def bad(detail: str, mend: str) -> Found:
    """Hearth does not do its work until this is mended."""
    return Found("fail", detail, mend)


def unwatched(name: str) -> None:
    """A Watch for whoever does not want to know."""


def finding(check: str, found: Found) -> Finding:
    """Put what was found under its check's name."""
    return Finding(check, found.status, found.detail, found.mend)


async def examine(
    checks: Iterable[Check[Scene]], scene: Scene, watch: Watch = unwatched
) -> list[Finding]:
    """Every check's finding, in their order, one after the other.

    One that takes too long has failed.
    """
    findings = []
    for check in checks:
        watch(check.name)
        try:
            async with asyncio.timeout(check.limit_s):
                found = await check.look(scene)
        except TimeoutError:
            found = bad(f"no result within {check.limit_s:g} s", "try again; then see --debug")
        findings.append(finding(check.name, found))
    return findings
