"""The time zone of the house: that of the machine, with its changes to and from daylight saving."""

import os
from datetime import UTC, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

LOCALTIME = Path("/etc/localtime")


def local_zone(localtime: Path = LOCALTIME) -> tzinfo:
    """As `TZ` says, else as the machine is set up, else UTC."""
    name = os.environ.get("TZ", "").lstrip(":")
    try:
        if name:
            return ZoneInfo(name)
    except (KeyError, OSError, ValueError):  # a rule such as "CET-1CEST" names no zone
        pass
    try:
        with localtime.open("rb") as file:
            return ZoneInfo.from_file(file, key="localtime")
    except (OSError, ValueError):
        return UTC
