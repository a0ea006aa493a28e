"""Waits until the service's HTTP interface can be reached: the last thing that Hearth opens.

    python answers.py CONFIGURATION SECONDS

Ends with 0 as soon as it can, with 1 where it cannot in time or the service has ended meanwhile.
"""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

from assistant.config.errors import ConfigError
from assistant.config.load import load_settings

_EVERYWHERE = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}


def main(path: str, seconds: float) -> int:
    """Try twice a second."""
    try:
        http = load_settings(Path(path), os.environ).http
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 1
    address = (_EVERYWHERE.get(http.host, http.host), http.port)
    ends = time.monotonic() + seconds
    while time.monotonic() < ends and _runs():
        try:
            socket.create_connection(address, 2.0).close()
        except OSError:
            time.sleep(0.5)
        else:
            return 0
    return 1


def _runs() -> bool:
    asked = subprocess.run(["systemctl", "is-active", "--quiet", "hearth.service"])
    return asked.returncode == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], float(sys.argv[2])))
