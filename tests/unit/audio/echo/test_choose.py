"""Choice of the plan against the echo, row by row."""

from collections.abc import Mapping

import pytest

from audio.echo import PathKind, Setting, choose, choose_meanwhile, echo_cancelled


@pytest.mark.parametrize(
    ("setting", "extra", "cancelled", "path", "kind", "half_duplex"),
    [
        ("off", True, True, "echo", "none", True),
        ("on", True, True, "cancels", "own", False),
        ("on", False, True, "echo", "none", True),
        ("system", True, True, None, "system", False),
        ("system", True, False, None, "none", True),
        ("auto", True, False, None, "none", True),
        ("auto", True, False, "echo", "own", False),
        ("auto", False, False, "echo", "none", True),
        ("auto", False, False, None, "none", True),
        ("auto", True, True, "echo", "system", False),
        ("auto", True, False, "cancels", "device", False),
        ("auto", True, False, "apart", "none", False),
        ("auto", False, False, "apart", "none", False),
        ("auto", True, False, "deaf", "none", True),
        ("auto", True, True, "deaf", "none", True),
    ],
)
def test_the_plan(
    setting: Setting,
    extra: bool,
    cancelled: bool,
    path: PathKind | None,
    kind: str,
    half_duplex: bool,
) -> None:
    plan = choose(setting, extra=extra, cancelled_source=cancelled, path=path)
    assert (plan.kind, plan.half_duplex) == (kind, half_duplex)
    assert plan.reason.rstrip("`").endswith((".", "]`.", "]"))


@pytest.mark.parametrize("path", ["echo", "apart", "cancels", "deaf", None])
@pytest.mark.parametrize("cancelled", [True, False])
def test_a_canceller_of_ours_begins_at_a_start_only(cancelled: bool, path: PathKind | None) -> None:
    usual = choose("auto", extra=True, cancelled_source=cancelled, path=path)
    plan = choose_meanwhile("auto", extra=True, cancelled_source=cancelled, path=path)
    if usual.kind == "own":
        assert (plan.kind, plan.half_duplex) == ("none", True)
        assert "next start" in plan.reason
    else:
        assert plan == usual


@pytest.mark.parametrize("setting", ["on", "auto"])
def test_a_missing_extra_is_named(setting: Setting) -> None:
    plan = choose(setting, extra=False, cancelled_source=False, path="echo")
    assert "pip install hearth-voice[echo]" in plan.reason


@pytest.mark.parametrize(
    ("name", "properties", "cancelled"),
    [
        ("alsa_input.usb-Jabra.mono", {}, False),
        ("alsa_input.usb-Jabra.echo-cancel", {}, True),
        ("echo-cancel-source", {"node.name": "echo-cancel-source"}, True),
        ("source_1", {"media.name": "Echo-Cancel Source"}, True),
        ("clear", {"device.description": "Jabra Mono (echo cancelled with Jabra Stereo)"}, True),
        ("alsa_input.usb-Jabra.mono", {"device.description": "Jabra SPEAK 510 Mono"}, False),
        ("ecsink.monitor", {"device.class": "monitor"}, False),
        ("mic.echo-cancel.monitor", {}, False),
    ],
)
def test_a_source_without_echo(name: str, properties: Mapping[str, str], cancelled: bool) -> None:
    assert echo_cancelled(name, properties) is cancelled
