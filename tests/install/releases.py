"""Which Debian the installer is tried on: the one that DEBIAN names, both with LONG=1."""

import os

_BOTH = ("bookworm", "trixie")
RELEASES = _BOTH if os.environ.get("LONG") else (os.environ.get("DEBIAN", "bookworm"),)
