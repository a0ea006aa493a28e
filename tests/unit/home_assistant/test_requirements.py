"""What integrations need, with what they stand on."""

import json
from pathlib import Path

from tests.home_assistant.real.requirements import requirements


def integration(folder: Path, name: str, needs: list[str], on: list[str]) -> None:
    """An integration as a package of Home Assistant holds it."""
    (folder / name).mkdir()
    manifest = {"domain": name, "requirements": needs, "dependencies": on}
    (folder / name / "manifest.json").write_text(json.dumps(manifest))


def test_dependencies_are_followed_in_circles_too(tmp_path: Path) -> None:
    integration(tmp_path, "first", ["one==1"], ["second"])
    integration(tmp_path, "second", ["two==2", "one==1"], ["first", "unknown"])
    integration(tmp_path, "third", ["three==3"], [])
    assert requirements(tmp_path, ["first", "unknown"]) == ["one==1", "two==2"]
