"""The Debian releases on which the installer is tested: the one in DEBIAN, or both with LONG=1."""

import os

_BOTH = ("bookworm", "trixie")
RELEASES = _BOTH if os.environ.get("LONG") else (os.environ.get("DEBIAN", "bookworm"),)
