"""What the doctor finds in the house, where a double must do."""

from pathlib import Path

from assistant.config.schema import Settings
from assistant.doctor import house
from assistant.doctor.house import HouseScene
from integrations.home_assistant.mobile_app import Address
from integrations.home_assistant.rest import Instance
from integrations.mcp.servers import HOME_ASSISTANT, ServerState


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
    found = house.judge_servers(states, {"search": 1, HOME_ASSISTANT: 20})
    assert [(one.check, one.status) for one in found] == [
        ("server search", "ok"),
        ("server notes", "warn"),
        ("server empty", "warn"),
    ]
    assert found[0].detail == "1 tool"
    assert found[1].mend == "npx is not installed."
    assert "allow" in found[2].mend
