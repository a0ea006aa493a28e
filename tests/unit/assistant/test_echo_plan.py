"""What is done against our own voice: nothing unless it is wanted and there."""

import importlib.util
from typing import Any

import pytest

from assistant import echo_plan
from assistant.config.load import load_settings
from assistant.echo_plan import plan_echo


def settings(**audio: str) -> Any:
    given = {f"HEARTH_AUDIO__{name.upper()}": value for name, value in audio.items()}
    return load_settings(None, {"HEARTH_AUDIO__INPUT": "null", "HOME": "/none", **given})


@pytest.fixture(params=[True, False], ids=["extra", "no extra"])
def extra(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    there = bool(request.param)
    if there and importlib.util.find_spec("livekit") is None:
        pytest.skip("the extra is not installed")
    monkeypatch.setattr(echo_plan, "find_spec", lambda name: object() if there else None)
    return there


async def test_on_takes_the_echo_out_or_says_what_is_missing(extra: bool) -> None:
    echo = await plan_echo(settings(echo_cancellation="on"))
    assert (echo.cleaner is not None, echo.plan.half_duplex) == (extra, not extra)
    assert ("pip install" in echo.complaint) is not extra


@pytest.mark.parametrize("setting", ["auto", "off"])
async def test_without_a_measurement_only_the_wake_word_interrupts(
    extra: bool, setting: str
) -> None:
    echo = await plan_echo(settings(echo_cancellation=setting))
    assert (echo.cleaner, echo.plan.half_duplex, echo.complaint) == (None, True, "")


async def test_a_server_without_such_a_source_is_told(extra: bool) -> None:
    echo = await plan_echo(settings(echo_cancellation="system"))
    assert "echo-cancel" in echo.complaint


async def test_noise_alone_leaves_it_half_duplex() -> None:
    pytest.importorskip("livekit")
    echo = await plan_echo(settings(noise_suppression="true"))
    assert echo.cleaner is not None
    assert echo.plan.half_duplex
    assert len(echo.cleaner.clean(bytes(640))) == 640
