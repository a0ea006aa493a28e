"""Print the requirements of the integrations on the command line, as this release pins them.

Runs under the Python of a Home Assistant, not of Hearth; dependencies are included.
"""

import json
import sys
from pathlib import Path


def requirements(components: Path, names: list[str]) -> list[str]:
    """Return the requirements of these integrations and of those they depend on.

    Unknown ones require nothing.
    """
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
