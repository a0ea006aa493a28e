"""Tests that the public workflow runs every stage of `.ci/run`, under the same names."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_workflow_runs_every_stage() -> None:
    script = (ROOT / ".ci/run").read_text()
    workflow = (ROOT / ".github/workflows/ci.yml").read_text()
    stages = re.search(r"^STAGES='(.*)'$", script, re.MULTILINE)
    matrix = re.search(r"^ +stage: \[(.*)\]$", workflow, re.MULTILINE)
    assert stages is not None
    assert matrix is not None
    assert matrix[1].split(", ") == stages[1].split()
    for name in stages[1].split():
        assert re.search(rf"^        {re.escape(name)}\)", script, re.MULTILINE)


def test_a_stage_that_does_not_exist_is_refused() -> None:
    done = subprocess.run(
        [ROOT / ".ci/run", "lunch"], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 2
    assert 'no stage "lunch"' in done.stderr
    assert "python-3.13" in done.stderr
