"""What the doctor finds in the house, where a double must do."""

from pathlib import Path

import pytest

from assistant.config.schema import Settings
from assistant.doctor import house
from assistant.doctor.house import HouseScene
from integrations.home_assistant.mobile_app import Address
from integrations.home_assistant.rest import Instance
from integrations.mcp import sandbox
from integrations.mcp.servers import HOME_ASSISTANT, ServerSpec, ServerState


def settings(data: Path) -> Settings:
    home = {"url": "http://127.0.0.1:9", "token": "t"}
    return Settings.model_validate({"assistant": {"data": str(data)}, "home_assistant": home})


async def test_a_password_in_the_address_is_not_shown(tmp_path: Path) -> None:
    address = Address("http://me:secret@home:8123", "token")
    answer = Instance("2026.11.0", "RUNNING", "Home")
    scene = HouseScene(settings(tmp_path), None, address, answer, None)  # type: ignore[arg-type]
    (check,) = (check for check in house.CHECKS if check.name == "home assistant")
    found = await check.look(scene)
    assert found.detail == "2026.11.0 at http://home:8123"
    assert "secret" not in repr(address)


def test_a_line_for_each_tool_server() -> None:
    states = [
        ServerState(HOME_ASSISTANT, False, "It is away."),
        ServerState("search", True, ""),
        ServerState("notes", False, "npx is not installed."),
        ServerState("empty", True, ""),
    ]
    servers = {state.name: ServerSpec(state.name, "http") for state in states}
    found = house.judge_servers(states, {"search": 1, HOME_ASSISTANT: 20}, servers)
    assert [(one.check, one.status) for one in found] == [
        ("server search", "ok"),
        ("server notes", "warn"),
        ("server empty", "warn"),
    ]
    assert found[0].detail == "1 tool"
    assert found[1].mend == "npx is not installed."
    assert "allow" in found[2].mend


@pytest.mark.parametrize(
    ("abi", "wanted", "status", "told"),
    [
        (5, True, "ok", "sandboxed, cannot read Hearth's files"),
        (0, True, "warn", "no Landlock"),
        (5, False, "warn", "can read Hearth's tokens"),
    ],
)
def test_the_sandbox_of_a_program(
    abi: int, wanted: bool, status: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "landlock_abi", lambda: abi)
    spec = ServerSpec("notes", "stdio", command="notes", sandbox=wanted)
    (found,) = house.judge_servers([ServerState("notes", True, "")], {"notes": 2}, {"notes": spec})
    assert found.status == status
    assert told in found.detail
    assert bool(found.mend) == (status != "ok")
