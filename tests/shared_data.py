"""Finds recordings that are tested with but are not part of this repository."""

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent


def shared_folder() -> Path:
    """The folder named by HEARTH_SHARED, else `shared` beside the repository."""
    return Path(os.environ.get("HEARTH_SHARED") or REPOSITORY.parent / "shared")


def shared(*parts: str) -> Path:
    """What lies there, e.g. `shared("data", "speech")`; skips the test when it is missing."""
    path = shared_folder().joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{path} is missing; set HEARTH_SHARED to the folder of shared test data")
    return path
