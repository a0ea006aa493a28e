"""Judges what `hearth doctor --cloud` has observed. Uses no clock and no I/O."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from assistant.brains.gemini.repair import RefusedPart
from assistant.doctor.finding import Finding, Found, bad, good, odd
from assistant.domain.brain import Spent
from integrations.cleaning import one_line
from integrations.errors import IntegrationError
from integrations.gemini.events import (
    Closed,
    FunctionCall,
    FunctionCalls,
    InputText,
    Interrupted,
    LiveEvent,
    OutputAudio,
    OutputText,
    TurnComplete,
)
from integrations.gemini.models import ModelRow

SLOW_SETUP_MS = 2_000.0
SLOW_SOUND_MS = 2_000.0  # from the end of the sentence to the first sound
SLOW_TRANSCRIPT_MS = 1_500.0
LAG_MS = 1_000.0  # of the answer's first words behind its first sound
LARGE_TOKENS = 4_000  # a longer set-up can explain a slow answer
_QUOTED = 80  # characters of a transcript to show
_REPORT = "send us the report (docs/gemini.md)"
_AGAIN = f"try again later; if the result stays the same, {_REPORT}"


@dataclass(frozen=True, slots=True)
class TimedFinding(Finding):
    ms: float | None = None  # what was measured, in milliseconds; None if nothing was


@dataclass(slots=True)
class CloudReport:
    """The result of the test, as `hearth doctor --cloud --json` prints it. It contains
    no secrets."""

    version: str
    day: str  # ISO 8601
    machine: str
    model: str
    once_model: str
    api_version: str
    google: bool  # False if `gemini.base_url` names another service
    live: bool = False  # Gemini Live answered
    seconds: float = 0.0
    cost_usd: float = 0.0
    cost_estimated: bool = False  # the service did not report all tokens
    figures: dict[str, float] = field(default_factory=dict)
    checks: list[TimedFinding] = field(default_factory=list)

    def charge(self, cost: Spent) -> None:
        self.cost_usd += cost.cost_usd
        self.cost_estimated |= cost.usage.estimated

    @property
    def failed(self) -> bool:
        return any(one.status == "fail" for one in self.checks)


Tell = Callable[[TimedFinding], None]


class CloudFindings:
    """Collects findings in a report, and passes each to `tell` immediately."""

    def __init__(self, report: CloudReport, tell: Tell | None = None) -> None:
        self.report = report
        self._tell = tell

    def add(self, check: str, found: Found, ms: float | None = None, figure: str = "") -> None:
        """Add a finding. `figure` is the name under which `ms` is reported."""
        rounded = None if ms is None else max(0, round(ms))
        finding = TimedFinding(check, found.status, found.detail, found.mend, rounded)
        self.report.checks.append(finding)
        if figure and rounded is not None:
            self.report.figures[figure] = rounded
        if self._tell is not None:
            self._tell(finding)


@dataclass(frozen=True, slots=True)
class CloudAnswer:
    """The events of one question and its answer, with their monotonic times in seconds."""

    asked_s: float  # the question's end
    events: Sequence[tuple[float, LiveEvent]]

    def first_ms(self, *kinds: type[LiveEvent]) -> float | None:
        """Return the milliseconds from the question's end to the first event of these kinds, or
        None.

        Transcripts of the question can have a negative time. Any other event before the question's
        end belongs to an earlier answer and is ignored.
        """
        return next(iter(self._times(kinds)), None)

    def last_ms(self, *kinds: type[LiveEvent]) -> float | None:
        return next(reversed(self._times(kinds)), None)

    def _times(self, kinds: tuple[type[LiveEvent], ...]) -> list[float]:
        times = [(at - self.asked_s) * 1000 for at, one in self.events if isinstance(one, kinds)]
        return times if kinds == (InputText,) else [ms for ms in times if ms >= 0]

    @property
    def heard(self) -> str:
        return "".join(one.text for _, one in self.events if isinstance(one, InputText)).strip()

    @property
    def said(self) -> str:
        texts = ((at, one.text) for at, one in self.events if isinstance(one, OutputText))
        return "".join(text for at, text in texts if at >= self.asked_s).strip()

    @property
    def has_answer(self) -> bool:
        return self.first_ms(OutputAudio, OutputText) is not None

    @property
    def calls(self) -> tuple[FunctionCall, ...]:
        found = [one.calls for _, one in self.events if isinstance(one, FunctionCalls)]
        return tuple(call for calls in found for call in calls)

    @property
    def error(self) -> IntegrationError | None:
        return next((one.error for _, one in self.events if isinstance(one, Closed)), None)

    def interrupted_ms(self, since_s: float) -> float | None:
        """Return the milliseconds from `since_s` to the service's notice of an interruption, or
        None."""
        found = (at for at, one in self.events if isinstance(one, Interrupted) and at >= since_s)
        at = next(found, None)
        return None if at is None else (at - since_s) * 1000


@dataclass(frozen=True, slots=True)
class SetupFacts:
    """The size of a turn's session setup."""

    tools: int
    characters: int  # of the set-up as JSON
    tokens: int  # of instruction and menu, estimated

    @property
    def told(self) -> str:
        return f"{self.tools} tools, {self.characters / 1000:.1f} kB, about {self.tokens:,} tokens"


def failed(what: str, error: IntegrationError) -> Found:
    return bad(f"{what}{reason_of(error)}", str(error))


def reason_of(error: IntegrationError) -> str:
    """Return the service's own words, to be appended to a finding, or "" if it sent none."""
    return f"; the service said: {error.told}" if error.told else ""


def judge_ipv6(ipv6: Found, ipv4: Found) -> Found:
    """Turn a failure of IPv6 into a warning if IPv4 works."""
    if ipv6.status != "fail" or ipv4.status == "fail":
        return ipv6
    return odd(
        f"{ipv6.detail}, but IPv4 works",
        "repair IPv6 on the router, or turn it off on this machine: every connection tries it "
        "first, for a quarter of a second",
    )


def judge_models(model: str, names: Sequence[str], known: Mapping[str, ModelRow]) -> Found:
    """Check that the key can use the model with Live. `names` contains all models that the key can
    use with Live."""
    if not names:
        return bad(
            "this key can use no Live model",
            "use a key of a project and country for which Google offers the Live API",
        )
    listed = ", ".join(names)
    if model in names:
        return good(f"usable with Live: {listed}")
    usable = next((name for name in names if name in known), names[0])
    return bad(f"{model} is not usable with Live, but: {listed}", f'set gemini.model = "{usable}"')


def judge_next_model(gone: str, used: str) -> Found:
    return odd(
        f"{gone} is not usable with Live, so the next one in gemini.model is tested: {used}",
        f"remove {gone} from gemini.model",
    )


def judge_setup(
    facts: SetupFacts, ms: float, refused: Mapping[str, RefusedPart], connect_s: float
) -> Found:
    told = f"opened with {facts.told}"
    if refused:
        names = ", ".join(sorted(refused))
        reasons = " ".join(dict.fromkeys(one.reason for one in refused.values()))
        until = min(one.until for one in refused.values())[:10]
        return odd(
            f"{told}, but without {names}, which the service refused: {reasons}",
            f"nothing to do: Hearth works without it and retries it on {until}; please {_REPORT}",
        )
    if ms > connect_s * 1000:
        return odd(
            f"{told}, but slower than gemini.connect_timeout_s ({connect_s:g} s), so a turn would "
            "use another brain",
            "check the network, or raise gemini.connect_timeout_s",
        )
    if ms > SLOW_SETUP_MS:
        return odd(f"{told}, but slowly", f"check the network; {_AGAIN}")
    return good(told)


def judge_spoken(answer: CloudAnswer, facts: SetupFacts, first_event_s: float) -> Found:
    if not answer.has_answer:
        return judge_silence(answer)
    ms = answer.first_ms(OutputAudio)
    if ms is None:
        return odd("answered in words, but without sound", _REPORT)
    if ms > first_event_s * 1000:
        return odd(
            f"answered, but Hearth waits only gemini.first_event_timeout_s ({first_event_s:g} s) "
            "for the first sound",
            "raise gemini.first_event_timeout_s",
        )
    if ms > SLOW_SOUND_MS:
        mend = _AGAIN
        if facts.tokens > LARGE_TOKENS:
            mend = f"expose fewer devices and tools, because the model reads them first; {mend}"
        return odd("answered, but Gemini was slow to begin", mend)
    return good("answered with sound")


def judge_silence(answer: CloudAnswer) -> Found:
    if answer.error is not None:
        return failed("the session ended", answer.error)
    ends = [one for _, one in answer.events if isinstance(one, TurnComplete)]
    if ends:
        why = f" ({ends[-1].reason})" if ends[-1].reason else ""
        return bad(f"the turn ended without an answer{why}", _AGAIN)
    return bad("no answer", _AGAIN)


def judge_transcript(answer: CloudAnswer) -> Found:
    ms = answer.last_ms(InputText)
    if ms is None:
        return odd("the spoken question was not transcribed", _REPORT)
    told = f'"{one_line(answer.heard, _QUOTED)}"'
    if ms > SLOW_TRANSCRIPT_MS:
        return odd(f"late: {told}", f"nothing to do: no answer waits for it; please {_REPORT}")
    return good(told)


def judge_text(answer: CloudAnswer, late_text_ms: float, *, native_voice: bool) -> Found:
    """Check how far the answer's transcript lags behind its sound. A local voice can speak only
    text that has arrived."""
    first, last = answer.first_ms(OutputText), answer.last_ms(OutputText)
    sound, end = answer.first_ms(OutputAudio), answer.first_ms(TurnComplete)
    own_voice = 'set voice.engine = "gemini", which plays the model\'s own voice'
    if first is None or last is None:
        return odd("the answer has no transcript", _REPORT if native_voice else own_voice)
    lag = 0.0 if sound is None else first - sound
    tail = 0.0 if end is None else last - end
    told = f"begins {abs(lag):.0f} ms {'before' if lag < 0 else 'after'} the sound"
    if tail > 0:
        told += f" and ends {tail:.0f} ms after the end of the answer"
    if native_voice or (lag <= LAG_MS and tail <= late_text_ms):
        return good(told)
    if tail > late_text_ms:
        own_voice = f"set gemini.late_text_ms = {-(-tail // 100) * 100:.0f}, or {own_voice}"
    return odd(f"late: {told}", own_voice)


def judge_usage(report: CloudReport) -> Found:
    told = f"{report.cost_usd:.4f} USD so far"
    if report.cost_estimated:
        return odd(f"the service did not report all tokens; about {told}", _REPORT)
    tokens_in, tokens_out = report.figures["input_tokens"], report.figures["output_tokens"]
    return good(f"{tokens_in:,.0f} tokens in, {tokens_out:,.0f} out; {told}")


def judge_call(calls: Sequence[FunctionCall], tool: str) -> Found:
    right = sum(call.name == tool for call in calls)
    others = len(calls) - right
    told = f"{tool} was called {'once' if right == 1 else f'{right} times'}"
    if others:  # without their names, which can tell about the house
        told += f", and other tools {others} times"
    return good(told) if right == 1 and not others else odd(told, _AGAIN)


def judge_once(model: str, words: str) -> Found:
    if words:
        return good(f"{model} answered")
    return odd(f"{model} gave an empty answer", "set gemini.once_model to another model")


def judge_typed(answer: CloudAnswer) -> Found:
    return good("answered") if answer.has_answer else judge_silence(answer)


def judge_interruption(answer: CloudAnswer, interrupted_ms: float | None) -> Found:
    if not answer.has_answer:
        return judge_silence(answer)
    if interrupted_ms is None:
        return odd("answered, but the service did not report the interruption", _REPORT)
    return good("the running answer stopped, and the new sentence was answered")


def judge_note(answered: bool, answer: CloudAnswer, word: str) -> Found:
    """Check that a note was used in the next answer and that the note alone was not answered."""
    if answered:
        return odd("the model answered a note that asks for nothing", _REPORT)
    if word.casefold() not in answer.said.casefold():
        return odd("accepted, but the next answer did not use it", _REPORT)
    return good("accepted without an answer, and used in the next one")


def judge_resumption(answer: CloudAnswer, word: str) -> Found:
    if not answer.has_answer:
        return judge_silence(answer)
    if word.casefold() not in answer.said.casefold():
        return odd("the session was resumed, but it has forgotten the conversation", _REPORT)
    return good("the session was resumed and remembers the conversation")
