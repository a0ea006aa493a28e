"""Tests that Gemini's package is imported while the first person speaks, and not before."""

import subprocess
import sys
from pathlib import Path

_CODE = """\
import asyncio, sys
from pathlib import Path
from assistant.app.build import open_app
from assistant.conversation.rules.events import WakeRising
from tests.pipeline.rig import offline_settings

async def idle():
    settings = offline_settings(
        Path(sys.argv[1]),
        brain={"order": ["gemini-live", "gemini-once", "offline"]},
        privacy={"accept_cloud": True},
        gemini={"api_key": "k", "base_url": "https://127.0.0.1:9"},
    )
    async with open_app(settings, None, hears=False, resident=True) as app:
        before = "google.genai" in sys.modules
        app.runner.dispatch(WakeRising(0.0))
        for _ in range(2000):
            if "google.genai" in sys.modules:
                break
            await asyncio.sleep(0.01)
        print(before, "google.genai" in sys.modules)

asyncio.run(idle())
"""


def test_a_rising_wake_word_imports_it(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _CODE, str(tmp_path)], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.split() == ["False", "True"], done.stderr
