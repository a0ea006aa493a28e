"""Find recordings that tests use but that are not part of this repository.

`docs/testing.md` says which they are and how to get them.
"""

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
NOT_PRESENT = "recordings not present"
SPEECH = ("data", "speech")
LIVE_CASES = ("cases", "live")
HOUSE_CASES = ("cases", "home")
_KINDS: dict[tuple[str, ...], str] = {
    SPEECH: "real speech",
    LIVE_CASES: "message scripts",
    HOUSE_CASES: "reported situations",
}


def shared_folder() -> Path:
    """Return the folder named by HEARTH_SHARED, else `shared` beside the repository."""
    return Path(os.environ.get("HEARTH_SHARED") or REPOSITORY.parent / "shared")


def shared(*parts: str) -> Path:
    """Return a file there, e.g. `shared("data", "speech")`; skip the test if it is missing."""
    path = shared_folder().joinpath(*parts)
    if not path.exists():
        kind = _KINDS.get(parts, "recorded answers")
        pytest.skip(f"{kind}: {NOT_PRESENT} ({path})")
    return path


def skipped_for_recordings(reasons: Iterable[str]) -> list[str]:
    """Return a line for each kind of missing recording, from pytest's reasons for skipped tests."""
    kinds = [
        reason.removeprefix("Skipped: ").partition(":")[0]
        for reason in reasons
        if NOT_PRESENT in reason
    ]
    return [
        f"{kinds.count(kind)} {'test' if kinds.count(kind) == 1 else 'tests'} of {kind} skipped: "
        f"{NOT_PRESENT} (see docs/testing.md)"
        for kind in dict.fromkeys(kinds)
    ]
