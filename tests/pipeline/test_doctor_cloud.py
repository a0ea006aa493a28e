"""Tests of `hearth doctor --cloud` with the simulated service, in the states of a first key."""

import asyncio
import json
import re
import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from assistant.brains.slots import start_of_day
from assistant.cli import doctor as command
from assistant.cli.main import main
from assistant.doctor import cloud, cloud_live
from assistant.domain.clock import SystemClock
from assistant.journal.store import Store
from tests.pipeline.test_gemini_setup_repair import PARTS, UNNAMED, named
from tests.simulators.gemini_live import TOKEN, GeminiSimulator
from tests.simulators.google_account import ACCESS_TOKEN
from tests.simulators.models import MODELS
from tests.simulators.records import HeardTurn
from tests.simulators.script import (
    Call,
    Done,
    Hear,
    OnceTurn,
    Opening,
    Say,
    Step,
    Tokens,
    Used,
    Wait,
)
from tests.simulators.threads import in_thread

KEY = "AIza" + "k3y" * 11 + "xy"
BLOCKED = (
    "Requests to this API generativelanguage.googleapis.com method "
    "google.ai.generativelanguage.v1beta.ModelService.GetModel are blocked."
)
QUOTA = "You exceeded your current quota, please check your plan and billing details."
TURN = Tokens(
    2_600, 90, prompt_details={"AUDIO": 50, "TEXT": 2_550}, response_details={"AUDIO": 90}
)
DONE = Done(usage=TURN)
Checks = dict[str, dict[str, Any]]


class QuickClock(SystemClock):
    """A clock on which speech takes a tenth of its time."""

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds / 10)


class Model:
    """A model that answers the questions of the test, from what it was told in the session."""

    def __init__(self, *, first: Sequence[Step] = (Say("It is Paris."), DONE)) -> None:
        self.first = first  # after the transcript of the spoken question
        self.transcript: Sequence[Step] = (Hear("What is the capital of France?"),)
        self.service: GeminiSimulator | None = None

    def __call__(self, turn: HeardTurn) -> Sequence[Step]:
        assert self.service is not None
        told = " ".join(self.service.sessions[turn.session].history)
        if "Call the tool" in turn.text:
            tool = re.findall(r"tool (\S+) for it", turn.text)[0]
            return Call(tool, answer={"status": "done"}), Say("It is noon."), DONE
        if "Count aloud" in turn.text:
            return Say("one two three four five", audio_s=30.0, speed=2.0), DONE
        if turn.kind == "text":
            return Say("It was Toronto." if "Toronto" in told else "I don't know."), DONE
        if "Count aloud" in told:
            known = "note is Lima" in told
            return Hear("Stop."), Say("The word is Lima." if known else "I don't know."), DONE
        return *self.transcript, *self.first


def served(model: Model | None = None, **given: Any) -> GeminiSimulator:
    model = model or Model()
    service = GeminiSimulator(
        respond=model,
        respond_once=lambda asked: (Say("Yes."), Done(usage=Tokens(9, 1))),
        key=KEY,
        **given,
    )
    model.service = service
    return service


Run = Callable[..., tuple[int, dict[str, Any], Checks]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs the command and returns its exit code, report and checks."""
    monkeypatch.setattr(command, "SystemClock", QuickClock)
    monkeypatch.setattr(cloud_live, "QUIET_S", 0.2)

    def run(
        service: GeminiSimulator, late_s: float = 0.2, **settings: str
    ) -> tuple[int, dict[str, Any], Checks]:
        monkeypatch.setattr(cloud_live, "LATE_S", late_s)
        with in_thread(service):
            file = tmp_path / "hearth.toml"
            rows = [f'{name} = "{value}"' for name, value in service.settings.items()]
            rows += [f"{name} = {value}" for name, value in settings.items()]
            file.write_text(
                f'[assistant]\ndata = "{tmp_path}/data"\n[home_assistant]\nurl = "demo"\n'
                "[privacy]\naccept_cloud = true\n[gemini]\n" + "\n".join(rows) + "\n"
            )
            code = main(["doctor", "--cloud", "--yes", "--json", "--config", str(file)])
        told = capsys.readouterr().out
        assert not any(secret in told for secret in (KEY, TOKEN, ACCESS_TOKEN, "PRIVATE KEY"))
        report = json.loads(told)
        assert report["seconds"] < cloud.WITHIN_S
        assert report["cost_usd"] < cloud.LIMIT_USD
        return code, report, {check["check"]: check for check in report["checks"]}

    return run


def odd(checks: Checks) -> list[str]:
    return [name for name, check in checks.items() if check["status"] != "ok"]


def test_all_well(run: Run, tmp_path: Path) -> None:
    service = served(keep_frames=True)
    code, report, checks = run(service)
    assert (code, odd(checks)) == (0, []), checks
    assert report["live"]
    assert list(checks) == [
        *("key", "IPv4", "IPv6", "model", "models", "live session", "spoken question"),
        *("transcript", "answer's text", "usage", "typed question", "tool call"),
        *("interruption", "note", "resumption", "once model"),
    ]
    assert "gemini-3.8-live" in checks["models"]["detail"]
    assert checks["transcript"]["detail"] == '"What is the capital of France?"'
    assert "GetDateTime was called once" in checks["tool call"]["detail"]
    assert {"first_sound_ms", "setup_ms", "interruption_ms"} <= set(report["figures"])
    assert report["figures"]["input_tokens"] == TURN.prompt
    assert checks["usage"]["detail"].startswith("2,600 tokens in, 90 out")
    assert report["cost_estimated"], "the simulated service reports nothing for a cut-off answer"
    assert service.connections[1].resumed
    # Nothing happened in the house, and what the test cost counts towards the daily limit.
    calls = [answer for one in service.connections for answer in one.answers]
    assert len(calls) == 1
    assert 0.005 < spent(tmp_path) == pytest.approx(report["cost_usd"], abs=1e-5)


def spent(folder: Path) -> float:
    async def read() -> float:
        clock = SystemClock()
        async with Store(folder / "data" / "hearth.db", clock) as store:
            return await store.spent_since(start_of_day(clock.now()))

    return asyncio.run(read())


@pytest.mark.parametrize("reason", ["named", "unnamed"])
@pytest.mark.parametrize("part", PARTS)
def test_a_refused_part_of_the_set_up(run: Run, part: str, reason: str) -> None:
    path = PARTS[part]
    told = named(path) if reason == "named" else UNNAMED
    service = served(opening=Opening(refuses=(path,), refusal=(1007, told)))
    code, report, checks = run(service, google_search="true")
    assert (code, odd(checks)) == (0, ["live session"]), checks
    detail = checks["live session"]["detail"]
    assert f"but without {part}, which the service refused" in detail
    assert told.split("'")[0].rstrip(". ") in detail
    assert report["live"]


def test_no_live_model(run: Run) -> None:
    live = [name for name, rules in MODELS.items() if rules.live]
    code, report, checks = run(served(retired=live))
    assert (code, report["live"]) == (1, False)
    assert odd(checks) == ["model", "models", "live session"]
    assert "no Live model" in checks["models"]["detail"]
    assert checks["once model"]["status"] == "ok"


def test_another_model_is_suggested(run: Run) -> None:
    code, _, checks = run(served(retired=["gemini-3.8-live"]))
    assert code == 1
    assert checks["models"]["mend"] == 'set gemini.model = "gemini-3.8-live-extended-thinking"'


def test_the_next_model_of_the_list_is_tested(run: Run) -> None:
    chain = '["gemini-3.8-live", "gemini-3.8-live-extended-thinking"]'
    code, report, checks = run(served(retired=["gemini-3.8-live"]), model=chain)
    assert (code, report["live"]) == (0, True), checks
    assert report["model"] == "gemini-3.8-live-extended-thinking"
    assert odd(checks) == ["model", "models"]
    assert checks["models"]["mend"] == "remove gemini-3.8-live from gemini.model"


@pytest.mark.parametrize(
    ("sign_in", "version", "words"),
    [
        ("vertex", "v1beta1", "with Vertex AI (project simulated-project in us-central1"),
        ("token", "v1alpha", "with an ephemeral token, for Live only"),
    ],
)
def test_other_ways_to_sign_in(run: Run, sign_in: Any, version: str, words: str) -> None:
    code, report, checks = run(served(sign_in=sign_in))
    assert (code, odd(checks), report["api_version"]) == (0, [], version), checks
    assert words in checks["key"]["detail"]
    assert "resumption" in checks
    assert ("once model" in checks) is (sign_in == "vertex")


def test_ipv6_is_dead(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    async def addresses(host: str, port: int, family: int) -> list[str]:
        return ["127.0.0.1" if family == socket.AF_INET else "::1"]  # the service is on the first

    monkeypatch.setattr(cloud, "addresses", addresses)
    code, _, checks = run(served())
    assert (code, odd(checks)) == (0, ["IPv6"])
    assert "but IPv4 works" in checks["IPv6"]["detail"]


def test_the_key_is_restricted(run: Run) -> None:
    code, report, checks = run(
        served(
            rest_refusal=(403, BLOCKED, "API_KEY_SERVICE_BLOCKED"),
            opening=Opening(refuse=(1008, BLOCKED)),
        )
    )
    assert (code, report["live"]) == (1, False)
    assert odd(checks) == ["model", "models", "live session", "once model"]
    for name in ("model", "live session"):
        assert "restrictions of gemini.api_key" in checks[name]["mend"]
        assert BLOCKED[:100] in checks[name]["detail"]  # a close reason has at most 123 bytes


def test_the_quota_is_used_up(run: Run) -> None:
    code, report, checks = run(
        served(
            opening=Opening(refuse=(1011, QUOTA)),
            once=[OnceTurn((), cut=None)],
        )
    )
    assert (code, report["live"]) == (1, False)
    assert odd(checks)[0] == "live session"
    assert "quota of gemini.api_key is used up" in checks["live session"]["mend"]
    assert QUOTA in checks["live session"]["detail"]


def test_a_slow_service(run: Run) -> None:
    slow = Model(first=(Wait(2.5), Say("It is Paris."), DONE))
    code, report, checks = run(served(slow, opening=Opening(delay_s=2.2)))
    assert (code, odd(checks)) == (0, ["live session", "spoken question"])
    assert "slowly" in checks["live session"]["detail"]
    assert "slow to begin" in checks["spoken question"]["detail"]
    assert report["figures"]["first_sound_ms"] > 2_000


def test_a_late_transcript_of_the_question(run: Run) -> None:
    late = Model(first=(Say("It is Paris."), Wait(1.7), Hear("What is the capital?"), DONE))
    late.transcript = ()
    code, _, checks = run(served(late))
    assert (code, odd(checks)) == (0, ["transcript"])
    assert checks["transcript"]["detail"].startswith("late:")
    assert checks["transcript"]["ms"] > 1_500


def test_a_late_transcript_of_the_answer(run: Run) -> None:
    said = Say("It is Paris, of course, as everybody knows.", lag_s=1.2, pieces=1)
    late = Model(first=(said, Done(usage=TURN, waits_for_text=False)))
    code, _, checks = run(served(late), late_s=2.0)
    assert (code, odd(checks)) == (0, ["answer's text"])
    assert "gemini.late_text_ms = " in checks["answer's text"]["mend"]


def test_live_that_says_nothing(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cloud_live, "ANSWER_S", 0.5)
    code, report, checks = run(served(Model(first=(Done(reason="RESPONSE_REJECTED"),))))
    assert code == 1
    assert "RESPONSE_REJECTED" in checks["spoken question"]["detail"]
    assert report["live"], "it answered the typed question"


def test_without_usage_the_cost_is_estimated(run: Run, tmp_path: Path) -> None:
    code, report, checks = run(served(Model(first=(Say("It is Paris."), Done()))))
    assert (code, odd(checks)) == (0, ["usage"])
    assert report["cost_estimated"]
    assert spent(tmp_path) > 0.005


def test_the_time_is_limited_and_what_was_used_is_paid(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(cloud, "LIMIT_S", 4.0)
    silent = Model(first=(Say("It is"), Used(TURN), Wait(30.0), Done()))
    code, report, checks = run(served(silent))
    assert code == 1
    assert "stopped after 4 s" in checks["time"]["detail"]
    assert spent(tmp_path) == pytest.approx(report["cost_usd"], abs=1e-5) != 0


@pytest.mark.parametrize(
    ("limit", "usd", "words"),
    [
        ("daily", 0.001, "limits.daily_cost_usd"),
        ("test", 0.001, "expose fewer devices"),
    ],
)
def test_nothing_is_sent_that_would_cost_too_much(
    run: Run, monkeypatch: pytest.MonkeyPatch, limit: str, usd: float, words: str
) -> None:
    if limit == "test":
        monkeypatch.setattr(cloud, "LIMIT_USD", usd)
    else:
        monkeypatch.setenv("HEARTH_LIMITS__DAILY_COST_USD", str(usd))
    service = served()
    code, _, checks = run(service)
    assert (code, odd(checks)) == (1, ["cost"])
    assert words in checks["cost"]["mend"]
    assert service.connections == []


def test_the_rest_is_left_out_to_stay_within_the_limit(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cloud, "LIMIT_USD", 0.0095)  # 0.003 are spent; two turns are 0.0075
    code, _, checks = run(served())
    assert (code, odd(checks)) == (0, [])
    assert "stay within the limit" in checks["cost"]["detail"]
    assert "usage" in checks
    assert "typed question" not in checks


def test_the_once_model_is_not_asked_beyond_the_limit(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cloud, "LIMIT_USD", 0.0045)  # 0.003 are spent; the request is 0.0019
    service = served()
    code, report, checks = run(service)
    assert (code, odd(checks)) == (0, [])
    assert "not tried, to stay within the limit" in checks["once model"]["detail"]
    assert (report["cost_usd"] < 0.0045, service.once_requests) == (True, [])


def test_a_model_that_goes_on_calling_is_left(run: Run) -> None:
    class Insistent(Model):
        def __call__(self, turn: HeardTurn) -> Sequence[Step]:
            call, *rest = super().__call__(turn)
            return (
                [Say("One moment."), *[call] * 6, *rest]
                if isinstance(call, Call)
                else [call, *rest]
            )

    _, _, checks = run(served(Insistent()))
    assert checks["tool call"]["status"] == "warn"
    assert re.search(r"GetDateTime was called [34] times", checks["tool call"]["detail"])


def test_a_person_is_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "hearth.toml"
    words = ["doctor", "--cloud", "--config", str(file)]
    file.write_text("")
    assert main(words) == 2, "without consent"
    file.write_text(f'[privacy]\naccept_cloud = true\n[gemini]\napi_key = "{KEY}"\n')
    monkeypatch.setattr("sys.stdin.isatty", lambda: False)
    assert main(words) == 2, "nobody can agree"


def test_setup_opens_a_session_without_a_turn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = PARTS["custom vocabulary"]
    service = GeminiSimulator(
        key=KEY, opening=Opening(refuses=(path,), refusal=(1007, named(path)))
    )
    with in_thread(service):
        file, key = tmp_path / "hearth.toml", tmp_path / "key"
        key.write_text(KEY)
        file.write_text(
            f'[assistant]\ndata = "{tmp_path}/data"\n[home_assistant]\nurl = "demo"\n'
            f'[gemini]\nbase_url = "{service.url}"\nca_file = "{service.ca_file}"\n'
        )
        words = ["setup", "--accept-cloud", "--gemini-key-file", str(key), "--non-interactive"]
        assert main([*words, "--config", str(file)]) == 0
    told = " ".join(capsys.readouterr().err.split())
    assert "Google accepts the key" in told
    assert "live session: opened with" in told
    assert "without custom vocabulary, which the service refused: 1007" in told
    assert KEY not in told
    assert service.turns == []
    assert not (tmp_path / "data").exists()
