"""The choice of the component that removes Hearth's own voice from the microphone's audio."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

PathKind = Literal["echo", "apart", "cancels", "deaf"]


Setting = Literal["auto", "on", "off", "system"]
PlanKind = Literal["own", "system", "device", "none"]

EXTRA = "pip install hearth-voice[echo]"

# PulseAudio's module-echo-cancel names its source after the master ("NAME.echo-cancel") unless told
# otherwise, and describes it as "MASTER (echo cancelled with SINK)". PipeWire's module makes a node
# "echo-cancel-source", or one with a configured name, and sets the properties below.
_NAME_PARTS = ("echo-cancel", "echo_cancel", "echocancel", "ecsrc", "echo cancelled with")
_NAMES = ("node.name", "media.name", "device.description")
_DRIVER_FILE = "module-echo-cancel"


@dataclass(frozen=True, slots=True)
class Plan:
    kind: PlanKind  # own: Hearth's canceller; system: the sound server's; device: the microphone's
    half_duplex: bool  # while Hearth speaks, only the wake word and stop words count
    reason: str  # one sentence for the user


def echo_cancelled(name: str, properties: Mapping[str, str]) -> bool:
    """Return True if a source or sink of the sound server belongs to the server's echo canceller. A
    loudspeaker's monitor never does."""
    if properties.get("device.class") == "monitor" or name.endswith(".monitor"):
        return False
    if any(
        _DRIVER_FILE in properties.get(key, "") for key in ("module.name", "device.description")
    ):
        return True
    words = " ".join((name, *(properties.get(key, "") for key in _NAMES)))
    return any(part in words.casefold() for part in _NAME_PARTS)


def choose(setting: Setting, *, extra: bool, cancelled_source: bool, path: PathKind | None) -> Plan:
    """Choose the echo plan for a microphone and a loudspeaker.

    `extra` is True if Hearth's own canceller is installed. `cancelled_source` is the result of
    `echo_cancelled` for the microphone. `path` is None if it has not been measured.
    """
    if setting == "off":
        return _only_wake_word(
            "Echo cancellation is off: while I speak, only the wake word interrupts me."
        )
    if setting == "system":
        return _system(cancelled_source)
    if setting == "on":
        return _own("Echo cancellation is on.") if extra else _without_extra()
    return _auto(extra, cancelled_source, path)


def choose_meanwhile(
    setting: Setting, *, extra: bool, cancelled_source: bool, path: PathKind | None
) -> Plan:
    """Choose a plan for devices that appear while no canceller is running. The arguments are those
    of `choose`. If the devices need Hearth's canceller, which can only be started together with the
    process, the plan is half duplex."""
    plan = choose(setting, extra=extra, cancelled_source=cancelled_source, path=path)
    if plan.kind != "own":
        return plan
    return _only_wake_word(
        "The echo of these devices will be removed after the next start: until then, while I "
        "speak, only the wake word interrupts me.",
    )


def _auto(extra: bool, cancelled_source: bool, path: PathKind | None) -> Plan:
    if path == "deaf":
        return _only_wake_word(
            "This microphone is off while the loudspeaker plays: I listen when I have finished "
            "speaking.",
        )
    if cancelled_source:
        return _system(True)
    if path == "cancels":
        return Plan(
            "device", False, "This device removes its own echo, so Hearth's canceller is not used."
        )
    if path == "apart":
        return Plan(
            "none", False, "The microphone does not hear the loudspeaker: there is no echo."
        )
    if not extra:
        return _only_wake_word(
            "Echo cancellation is not installed: while I speak, only the wake word interrupts me. "
            f"Run `{EXTRA}`.",
        )
    if path is None:
        return _only_wake_word(
            "The echo of these devices has not been measured yet, so while I speak, only the wake "
            "word interrupts me. Hearth measures it when it is quiet; `hearth devices --measure` "
            "measures it now.",
        )
    return _own("An echo was measured, and Hearth removes it.")


def _only_wake_word(reason: str) -> Plan:
    return Plan("none", True, reason)


def _own(reason: str) -> Plan:
    return Plan("own", False, reason)


def _system(cancelled_source: bool) -> Plan:
    if cancelled_source:
        return Plan("system", False, "The sound server removes the echo.")
    return _only_wake_word(
        "The sound server does not remove the echo of these devices: load its echo-cancel module "
        "and set audio.input and audio.output to the devices that the module creates, or set "
        'audio.echo_cancellation to "auto".',
    )


def _without_extra() -> Plan:
    return _only_wake_word(
        f"Echo cancellation is on but not installed: run `{EXTRA}`. Until then, while I speak, "
        "only the wake word interrupts me.",
    )
