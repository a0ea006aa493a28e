"""Run the benchmarks: every module of this folder that has a `main()`, or the named ones.

    python -m tests.benchmarks [NAME ...]

Each prints what it measured. The figures are of this machine on this day, and the first lines say
which machine that is. Exit 1 when one raised.
"""

import importlib
import platform
import sys
import time
import traceback
from pathlib import Path

FOLDER = Path(__file__).parent


def machine() -> str:
    """Return one line that describes the machine."""
    model = platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        named = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        if named:
            model = f"{named[0].partition(':')[2].strip()} ({len(named)} cores)"
    return f"{model}, Python {platform.python_version()}, {time.strftime('%Y-%m-%d')}"


def available() -> list[str]:
    """Return the names of this folder's modules."""
    return sorted(path.stem for path in FOLDER.glob("*.py") if not path.stem.startswith("_"))


def run(name: str) -> bool:
    """Run one benchmark; return False if it raised. A module without `main()` only helps others."""
    module = importlib.import_module(f"tests.benchmarks.{name}")
    if not hasattr(module, "main"):
        return True
    print(f"\n{name}: {(module.__doc__ or '').strip().splitlines()[0]}")
    started = time.perf_counter()
    try:
        module.main()
    except Exception:  # one that fails must not keep the others from being measured
        traceback.print_exc()
        return False
    print(f"  ({time.perf_counter() - started:.1f} s)")
    return True


def main(names: list[str]) -> int:
    """Run the named benchmarks, or all."""
    unknown = sorted(set(names) - set(available()))
    if unknown:
        print(f"There is no benchmark {', '.join(unknown)}; there are {', '.join(available())}.")
        return 2
    print(machine())
    results = [run(name) for name in names or available()]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
