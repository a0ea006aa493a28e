"""Disk space of an installation: a package with some of its extras, and all requirements."""

from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

HEARTH = "hearth-voice"
EXTRAS = ("gemini", "piper")  # what the comparison with the peers uses
_SOURCES = ("assistant", "audio", "integrations")  # an editable installation has only their paths
_ROOT = Path(__file__).resolve().parents[2]


def required(name: str, extras: Iterable[str] = ()) -> dict[str, Distribution]:
    """Return the package and all its requirements, by name. Raises PackageNotFoundError."""
    found: dict[str, Distribution] = {}
    waiting = [name, *(needed for extra in extras for needed in _of_extra(name, extra))]
    while waiting:
        wanted = canonicalize_name(waiting.pop())
        if wanted in found:
            continue
        found[wanted] = package = distribution(wanted)
        for line in package.requires or ():
            needed = Requirement(line)
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                waiting.append(needed.name)
                for extra in needed.extras:
                    waiting += _of_extra(needed.name, extra)
    return found


def hearth_mb() -> tuple[float, int]:
    """Return the MB of Hearth's installation without compiled files, and its number of packages."""
    packages = required(HEARTH, EXTRAS)
    size = sum(_bytes(package) for package in packages.values())
    for folder in _SOURCES:
        files = (_ROOT / folder).rglob("*")
        size += sum(file.stat().st_size for file in files if _counts(file))
    return size / 2**20, len(packages)


def _of_extra(name: str, extra: str) -> list[str]:
    try:
        lines = distribution(name).requires or ()
    except PackageNotFoundError:
        return []
    needed = (Requirement(line) for line in lines)
    return [
        one.name
        for one in needed
        if one.marker is not None
        and one.marker.evaluate({"extra": extra})
        and not one.marker.evaluate({"extra": ""})
    ]


def _bytes(package: Distribution) -> int:
    files = (Path(str(package.locate_file(file))) for file in package.files or ())
    return sum(file.stat().st_size for file in files if _counts(file))


def _counts(file: Path) -> bool:
    return "__pycache__" not in file.parts and file.is_file()
