"""`python -m assistant` is the `hearth` program."""

import sys

from assistant.cli.main import main

sys.exit(main())
