"""Tests that Gemini's package is imported after the start, so that no turn has to wait for it."""

import subprocess
import sys
from pathlib import Path

import pytest

_CODE = """\
import asyncio, sys
from pathlib import Path
from assistant.app.daemon import Hooks, Requests, serve
from tests.pipeline.rig import offline_settings
from tests.ports import free_port

requests, at_ready = Requests(), []

def ready(*parts):
    at_ready.append("google.genai" in sys.modules)

async def idle():
    settings = offline_settings(
        Path(sys.argv[1]),
        audio={"input": "null", "output": "null"},
        http={"port": free_port(), "token": "t" * 32},
        brain={"order": [sys.argv[2], "offline"]},
        privacy={"accept_cloud": True},
        gemini={"api_key": sys.argv[3], "base_url": "https://127.0.0.1:9"},
    )
    serving = asyncio.ensure_future(serve(settings, Hooks(requests, on_ready=ready)))
    for _ in range(int(sys.argv[4])):
        if "google.genai.live" in sys.modules:
            break
        await asyncio.sleep(0.01)
    print(*at_ready, "google.genai.live" in sys.modules)
    requests.stop()
    await serving

asyncio.run(idle())
"""


def loaded(folder: Path, brain: str, key: str, *, within: int) -> list[str]:
    """Run a daemon. Return whether the package was imported when it was ready, and at the end."""
    words = [sys.executable, "-c", _CODE, str(folder), brain, key, str(within)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("brain", ["gemini-live", "gemini-once"])
def test_a_daemon_imports_it_once_it_is_ready(tmp_path: Path, brain: str) -> None:
    assert loaded(tmp_path, brain, "k", within=6000) == ["False", "True"]


def test_without_a_key_it_is_never_imported(tmp_path: Path) -> None:
    assert loaded(tmp_path, "gemini-live", "", within=600) == ["False", "False"]
