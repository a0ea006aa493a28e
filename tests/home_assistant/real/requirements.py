"""Prints what the integrations named on the command line need, as this release pins it.

Runs under the Python of a Home Assistant, not of Hearth: what they stand on is included.
"""

import json
import sys
from pathlib import Path


def requirements(components: Path, names: list[str]) -> list[str]:
    """What these integrations and those they depend on require; unknown ones require nothing."""
    found: dict[str, None] = {}
    seen: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        manifest = components / name / "manifest.json"
        if name in seen or not manifest.exists():
            continue
        seen.add(name)
        described = json.loads(manifest.read_text())
        found.update(dict.fromkeys(described.get("requirements", [])))
        waiting += described.get("dependencies", [])
    return sorted(found)


if __name__ == "__main__":
    import homeassistant  # type: ignore[import-not-found, unused-ignore]

    package = Path(homeassistant.__file__).parent
    print(*requirements(package / "components", sys.argv[1:]), sep="\n")
