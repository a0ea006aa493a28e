"""Read the findings of pip-audit as JSON on stdin, and report how many packages it looked up.

    audited.py DATABASE

Exit code 0: every package was looked up and has no known vulnerability. 1: one has, or some could
not be looked up. 3: nothing was looked up.
"""

import json
import sys
from typing import Any


def judge(found: dict[str, Any], database: str) -> tuple[int, list[str]]:
    """Return the exit code and the lines to print."""
    packages = found.get("dependencies", [])
    skipped = [one["name"] for one in packages if "skip_reason" in one]
    faulty = [one for one in packages if one.get("vulns")]
    if len(skipped) == len(packages):
        return 3, [f"{database}: not reached"]
    lines = [
        f"{one['name']} {one['version']}: {fault['id']}, fixed in "
        f"{', '.join(fault['fix_versions']) or 'no version yet'}"
        for one in faulty
        for fault in one["vulns"]
    ]
    if skipped:
        lines.append(f"Not looked up: {', '.join(skipped)}")
    looked_up = len(packages) - len(skipped)
    lines.append(
        f"{database}: {looked_up} of {len(packages)} packages looked up, "
        f"{len(faulty)} with a known vulnerability"
    )
    return (1 if faulty or skipped else 0), lines


def main() -> int:
    """Print the findings of one database."""
    try:
        found = json.load(sys.stdin)
    except ValueError:
        found = {}
    code, lines = judge(found, sys.argv[1])
    print("\n".join(lines))
    return code


if __name__ == "__main__":
    sys.exit(main())
