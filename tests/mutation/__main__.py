"""Breaks the code on purpose and counts what the tests notice (`make mutation`).

    python -m tests.mutation                                # the table of docs/testing.md, by part
    python -m tests.mutation --run turn policy              # tries all mutants of these parts
    python -m tests.mutation --run speech --sample 300      # so many of each part, by --seed
    python -m tests.mutation --survivors policy             # what no test noticed, as diffs
    python -m tests.mutation --again policy                 # those, each in a process of its own

mutmut makes the mutants below `mutants/` and tells which test reaches which function; run it first.
"""

import argparse
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.mutation.again import again
from tests.mutation.forks import Forks
from tests.mutation.score import PARTS, note, of_part, read, sample, score, survivors, table

MUTANTS = Path("mutants")
_NOTED = 50  # mutants between two times that exit codes are written
# Why a test fails is nobody's business here, and costs more than the test.
_QUIET = ("--rootdir=.", "-q", "-s", "--tb=no", "--assert=plain", "--timeout=30")


def main() -> int:
    """Return 0, or 1 if a run failed, or 2 if there is nothing to read."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    every = [[], *PARTS]  # before Python 3.12 no part at all is looked for among the choices, too
    parser.add_argument("parts", nargs="*", choices=every, metavar="PART", help=", ".join(PARTS))
    wanted = parser.add_mutually_exclusive_group()
    wanted.add_argument("--run", action="store_true", help="try the mutants")
    wanted.add_argument("--survivors", action="store_true", help="print what no test noticed")
    wanted.add_argument("--again", action="store_true", help="try survivors in fresh processes")
    parser.add_argument("--sample", type=int, metavar="N", help="of --run: so many of each part")
    parser.add_argument("--seed", type=int, default=1, help="of the sample (default: %(default)s)")
    parser.add_argument("--children", type=int, default=2, help="processes (default: %(default)s)")
    args = parser.parse_args()
    codes = read(MUTANTS)
    if not codes:
        print("There are no mutants here: run `make mutation`.", file=sys.stderr)
        return 2
    for part in args.parts or PARTS:
        ours = of_part(codes, part)
        if args.run:
            names = sample(ours, args.sample or len(ours), args.seed)
            if not run(names, args.children):
                return 1
        elif args.again:
            note(MUTANTS, dict(again(survivors(ours), [PARTS[part].tests], MUTANTS)))
        elif args.survivors:
            for name in survivors(ours):
                subprocess.run([sys.executable, "-m", "mutmut", "show", name], check=True)
    print(table(read(MUTANTS)))
    return 0


def run(names: Sequence[str], children: int) -> bool:
    """Try the mutants and record their exit codes. Returns False if that could not be done."""
    here, there = Path.cwd(), MUTANTS.resolve()
    told = json.loads((there / "mutmut-stats.json").read_text(encoding="utf-8"))
    config = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["tool"]["mutmut"]
    found: dict[str, int] = {}

    def done(name: str, code: int) -> None:
        found[name] = code
        if len(found) % _NOTED == 0:  # so that a run that is stopped has found something
            note(there, found)
            print(f"{len(found)} of {len(names)}", flush=True)

    reached_by, seconds = told["tests_by_mangled_function_name"], told["duration_by_test"]
    forks = Forks(names, reached_by, seconds, done, children)
    chosen = config["pytest_add_cli_args_test_selection"]
    os.chdir(there)
    sys.path.insert(0, str(there))
    try:
        args = [*_QUIET, *config["pytest_add_cli_args"], *chosen]
        ended = pytest.main(args, plugins=[forks])
    finally:
        os.chdir(here)
        sys.path.remove(str(there))
    note(there, found)
    print(f"{len(found)} of {len(names)} tried: {score(found.values()).noticed:.1f} % noticed")
    return ended == 0


if __name__ == "__main__":
    sys.exit(main())
