"""Tests of the whole doctor with the simulated house."""

from pathlib import Path

from assistant.app.process import locked
from assistant.doctor.whole import examine_all, examine_groups
from tests.ports import free_port
from tests.unit.assistant.doctor.scenes import settings


async def test_every_group_has_its_findings(tmp_path: Path) -> None:
    begun: list[str] = []
    at_home = settings(tmp_path, home_assistant={"url": "demo"}, http={"port": free_port()})
    groups = await examine_groups(at_home, watch=begun.append)
    assert [group.title for group in groups] == [
        "This machine",
        "Sound",
        "The house",
        "Gemini",
        "Hearth itself",
    ]
    findings = [finding for group in groups for finding in group.findings]
    names = [finding.check for finding in findings]
    assert len(names) == len(set(names))
    assert set(names) <= set(begun)
    assert "fail" not in {finding.status for finding in findings}
    assert all((finding.mend == "") == (finding.status == "ok") for finding in findings)
    assert names.index("journal") < names.index("wake word") < names.index("token")


async def test_a_hearth_that_runs_and_does_not_answer_is_a_fault(tmp_path: Path) -> None:
    held = settings(tmp_path, home_assistant={"url": "demo"}, http={"port": free_port()})
    with locked(tmp_path):
        findings = {one.check: one for one in await examine_all(held)}
    assert findings["running"].status == "fail"
    assert "no answer" in findings["running"].detail
    assert findings["console"].status == "fail"
