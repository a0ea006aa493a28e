"""Run the `hearth` program with `python -m assistant`."""

import sys

from assistant.cli.entry import main

sys.exit(main())
