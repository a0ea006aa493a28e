"""Messages to our device, as they come."""

from typing import Any

import pytest

from integrations.home_assistant.mobile_app import Push, confirm, read_push


def test_a_whole_message() -> None:
    event = {
        "message": "The washing is done.",
        "title": "Washing",
        "data": {"group": "timers"},
        "hass_confirm_id": "abc",
    }
    expected = Push("abc", "The washing is done.", "Washing", {"group": "timers"})
    assert read_push(event) == expected


@pytest.mark.parametrize(
    "event",
    [{}, {"message": None, "title": 5, "data": [], "hass_confirm_id": {}}, {"message": ["x"]}],
)
def test_what_is_of_the_wrong_type_is_left_out(event: dict[str, Any]) -> None:
    assert read_push(event) == Push("", "")


async def test_confirming() -> None:
    came = []

    class Home:
        async def command(self, kind: str, **fields: Any) -> None:
            came.append((kind, fields))

    await confirm(Home(), "hook", "abc")
    sent = {"webhook_id": "hook", "confirm_id": "abc"}
    assert came == [("mobile_app/push_notification_confirm", sent)]
