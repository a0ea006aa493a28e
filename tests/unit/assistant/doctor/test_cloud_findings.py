"""Tests of how the observations of `hearth doctor --cloud` are judged."""

from collections.abc import Sequence

import pytest

from assistant.brains.gemini.repair import RefusedPart
from assistant.doctor import cloud_findings as judged
from assistant.doctor.cloud_findings import CloudAnswer, CloudFindings, CloudReport, SetupFacts
from assistant.doctor.finding import Found, Status, bad, good
from integrations.errors import Unavailable
from integrations.gemini.events import (
    Closed,
    FunctionCall,
    InputText,
    Interrupted,
    LiveEvent,
    OutputAudio,
    OutputText,
    TurnComplete,
)
from integrations.gemini.models import MODELS

FACTS = SetupFacts(40, 27_000, 5_900)
SOUND, END = OutputAudio(b"", 24_000), TurnComplete()


def answer(*events: tuple[float, LiveEvent]) -> CloudAnswer:
    """Return the answer to a question that ended at second 10; times are relative to it, in ms."""
    return CloudAnswer(10.0, [(10 + ms / 1000, event) for ms, event in events])


def text(words: str) -> OutputText:
    return OutputText(words, with_sound=False)


def check(found: Found, status: Status, words: str) -> None:
    assert found.status == status, found
    assert words in f"{found.detail} {found.mend}"
    assert (found.mend == "") == (status == "ok")


@pytest.mark.parametrize(
    ("names", "status", "words"),
    [
        (["gemini-3.8-live", "x"], "ok", "gemini-3.8-live, x"),
        (["x", "gemini-3.1-flash-live-preview"], "fail", '"gemini-3.1-flash-live-preview"'),
        (["x"], "fail", 'gemini.model = "x"'),
        ([], "fail", "no Live model"),
    ],
)
def test_models(names: Sequence[str], status: Status, words: str) -> None:
    check(judged.judge_models("gemini-3.8-live", names, MODELS), status, words)


def test_ipv6_alone_is_only_a_warning() -> None:
    down = bad("x does not answer", "check the network")
    check(judged.judge_ipv6(down, good("")), "warn", "but IPv4 works")
    assert judged.judge_ipv6(down, down) == down
    assert judged.judge_ipv6(good("yes"), down) == good("yes")


@pytest.mark.parametrize(
    ("ms", "parts", "status", "words"),
    [
        (800, (), "ok", "40 tools, 27.0 kB, about 5,900 tokens"),
        (2_500, (), "warn", "slowly"),
        (6_000, (), "warn", "gemini.connect_timeout_s (5 s)"),
        (
            800,
            ("b", "a"),
            "warn",
            "without a, b, which the service refused: 1007 No. nothing to do",
        ),
        (800, ("b", "a"), "warn", "retries it on 2026-12-04"),
    ],
)
def test_the_set_up(ms: float, parts: Sequence[str], status: Status, words: str) -> None:
    refused = {
        part: RefusedPart(part, "1007 No.", f"2026-12-0{day}T10:00:00")
        for day, part in enumerate(parts, start=4)
    }
    check(judged.judge_setup(FACTS, ms, refused, 5.0), status, words)


@pytest.mark.parametrize(
    ("given", "status", "words"),
    [
        (answer((700, SOUND), (900, END)), "ok", "with sound"),
        (answer((2_100, SOUND)), "warn", "expose fewer devices"),
        (answer((6_100, SOUND)), "warn", "gemini.first_event_timeout_s (6 s)"),
        (answer((500, text("Paris."))), "warn", "without sound"),
        (answer((-5, SOUND), (500, END)), "fail", "without an answer"),  # of an earlier answer
        (answer((500, TurnComplete(reason="SAFETY"))), "fail", "(SAFETY)"),
        (answer((500, Closed(Unavailable("Gone.")))), "fail", "ended Gone."),
        (answer(), "fail", "no answer"),
    ],
)
def test_a_spoken_question(given: CloudAnswer, status: Status, words: str) -> None:
    check(judged.judge_spoken(given, FACTS, 6.0), status, words)


def test_a_small_set_up_does_not_explain_a_slow_answer() -> None:
    found = judged.judge_spoken(answer((2_100, SOUND)), SetupFacts(4, 2_700, 4_000), 6.0)
    check(found, "warn", "try again later")
    assert "fewer devices" not in found.mend


def test_the_transcript_of_the_question() -> None:
    early = answer((-200, InputText("What is ")), (300, InputText("the\x1b capital?")))
    check(judged.judge_transcript(early), "ok", '"What is the capital?"')
    check(judged.judge_transcript(answer((1_600, InputText("What")))), "warn", "late")
    check(judged.judge_transcript(answer((500, SOUND))), "warn", "not transcribed")


@pytest.mark.parametrize(
    ("given", "native", "status", "words"),
    [
        (answer((500, SOUND), (600, text("Yes.")), (900, END)), False, "ok", "100 ms after"),
        (answer((600, SOUND), (500, text("Yes.")), (900, END)), False, "ok", "100 ms before"),
        (answer((500, SOUND), (1_700, text("Yes."))), False, "warn", 'voice.engine = "gemini"'),
        (
            answer((500, SOUND), (600, text("It")), (900, END), (1_350, text("is."))),
            *(False, "warn", "gemini.late_text_ms = 500"),
        ),
        (answer((500, SOUND), (900, END), (2_000, text("Yes."))), True, "ok", "1100 ms after"),
        (answer((500, SOUND), (900, END)), False, "warn", "no transcript set voice.engine"),
        (answer((500, SOUND), (900, END)), True, "warn", "no transcript send us the report"),
    ],
)
def test_the_text_of_the_answer(
    given: CloudAnswer, native: bool, status: Status, words: str
) -> None:
    check(judged.judge_text(given, 300, native_voice=native), status, words)


@pytest.mark.parametrize(
    ("names", "status", "words"),
    [
        (["GetDateTime"], "ok", "called once"),
        (["GetDateTime"] * 2, "warn", "2 times"),
        (["GetDateTime", "script__secret"], "warn", "other tools 1 times"),
        ([], "warn", "0 times"),
    ],
)
def test_calls(names: Sequence[str], status: Status, words: str) -> None:
    found = judged.judge_call([FunctionCall("c", name, {}) for name in names], "GetDateTime")
    check(found, status, words)
    assert "secret" not in found.detail


def test_an_interruption() -> None:
    given = answer((-1_500, Interrupted()), (400, SOUND))
    assert given.interrupted_ms(8.0) == pytest.approx(500)
    assert given.interrupted_ms(9.0) is None
    check(judged.judge_interruption(given, 500), "ok", "stopped")
    check(judged.judge_interruption(given, None), "warn", "did not report")
    check(judged.judge_interruption(answer(), None), "fail", "no answer")


def test_what_is_remembered() -> None:
    right, wrong = answer((500, text("It is lima."))), answer((500, text("I don't know.")))
    check(judged.judge_note(False, right, "Lima"), "ok", "used in the next")
    check(judged.judge_note(True, right, "Lima"), "warn", "answered a note")
    check(judged.judge_note(False, wrong, "Lima"), "warn", "did not use it")
    late = answer((-500, text("It is Lima.")), (500, text("I don't know.")))  # of another question
    check(judged.judge_note(False, late, "Lima"), "warn", "did not use it")
    check(judged.judge_resumption(right, "Lima"), "ok", "remembers")
    check(judged.judge_resumption(wrong, "Lima"), "warn", "forgotten")
    check(judged.judge_resumption(answer(), "Lima"), "fail", "no answer")
    check(judged.judge_typed(right), "ok", "answered")
    check(judged.judge_typed(answer()), "fail", "no answer")
    check(judged.judge_once("m", ""), "warn", "gemini.once_model")


def test_findings_are_collected_and_told() -> None:
    report = CloudReport("1", "2026-11-27", "m", "live", "once", "v1beta", google=True)
    told: list[str] = []
    findings = CloudFindings(report, lambda one: told.append(one.check))
    findings.add("a", good("yes"), -3.2, "a_ms")
    findings.add("b", bad("no", "do it"), None, "b_ms")
    assert told == ["a", "b"]
    assert report.figures == {"a_ms": 0}
    assert report.failed
