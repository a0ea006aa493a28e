"""Tests of pauses: their length, and how the words before them change it."""

import asyncio

import pytest

from assistant.conversation import endpointing
from assistant.conversation.audio_front_end import SpeechDuration
from assistant.conversation.endpointing import (
    MOST,
    PAUSE_MS,
    Endings,
    LateEndings,
    PauseVerdict,
    PlainEndings,
    hang_over,
    judge_path,
    keep_names,
    open_endings,
)
from assistant.conversation.grammar_endpointer import GrammarEndpointer
from assistant.conversation.rules.events import SpeechHeld, SpeechPassed
from audio.endpoint import HANG_OVER_MS
from audio.frames import SAMPLES_PER_MS
from audio.vad import Voicing
from integrations.home_assistant.house import House
from tests.corpus.house import corpus_house

COMMANDS = ("turn on the light", "never mind", "turn on the fan")
C, N, U = PauseVerdict.COMPLETE, PauseVerdict.UNFINISHED, PauseVerdict.UNKNOWN


def is_command(text: str) -> bool:
    return text in COMMANDS


@pytest.mark.parametrize(
    ("words", "verdict"),
    [
        ("", U),
        ("turn on the light", C),
        ("turn on the", N),
        ("turn", N),
        ("turn on the light and", N),
        ("turn on the light um", N),
        ("never mind", U),  # too short to be believed
    ],
)
def test_a_path_of_the_grammar(words: str, verdict: PauseVerdict) -> None:
    assert judge_path(words.split(), is_command) is verdict


def test_every_pause_is_within_bounds_and_in_order() -> None:
    assert 300 <= PAUSE_MS[C] < PAUSE_MS[U] < PAUSE_MS[N] <= 1200


@pytest.mark.parametrize(
    ("verdict", "said_ms", "longer"),
    [(U, 1499, True), (U, 1500, False), (C, 500, False), (N, 500, False)],
)
def test_who_has_said_little_may_pause_longer(
    verdict: PauseVerdict, said_ms: float, longer: bool
) -> None:
    found = hang_over(verdict, said_ms)
    assert found <= PAUSE_MS[N]
    assert (found > PAUSE_MS[verdict]) is longer


def test_without_any_knowledge_every_pause_is_the_same() -> None:
    endings = Endings(700)
    endings.begin(0)
    endings.hear(bytes(640), 320)
    assert endings.hang_over_ms(320, None) == endings.hang_over_ms(32_000, 320) == 700
    endings.end()
    assert Endings().hang_over_ms(0, None) == PAUSE_MS[U]


def test_without_words_it_counts_how_much_was_said() -> None:
    endings = PlainEndings()
    endings.begin(0)
    endings.hear(bytes(640), 320)
    short, long = hang_over(U, 0), PAUSE_MS[U]
    first = 16_000  # sample at which the speech is detected
    assert endings.hang_over_ms(first, None) == short
    assert endings.hang_over_ms(first, first) == short
    assert endings.hang_over_ms(first + 24_000, first + 23_999) == short
    assert endings.hang_over_ms(first + 32_000, first + 24_000) == long
    endings.begin(48_000)
    assert endings.hang_over_ms(64_000, 64_000) == short
    endings.hang_over_ms(96_000, 96_000)
    endings.end()
    assert endings.hang_over_ms(128_000, 128_000) == short


# The endpointer for the languages that are spoken.


@pytest.mark.parametrize("languages", [("es",), ("es-MX", "en"), ("de", "en")])
async def test_elsewhere_only_how_much_was_said_counts(languages: tuple[str, ...]) -> None:
    async with open_endings(languages, corpus_house) as endings:
        assert isinstance(endings, PlainEndings)


async def test_where_no_language_is_told_every_pause_is_the_same() -> None:
    async with open_endings((), corpus_house) as endings:
        assert type(endings) is Endings
        assert endings.hang_over_ms(0, None) == HANG_OVER_MS


async def test_where_english_is_spoken_the_words_count_once_somebody_speaks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = asyncio.Event()

    def note(late: LateEndings, endings: Endings) -> None:
        assert isinstance(endings, GrammarEndpointer)
        made.set()

    monkeypatch.setattr(LateEndings, "become", note)
    async with open_endings(("en-GB", "es"), corpus_house) as endings:
        assert isinstance(endings, LateEndings)
        await asyncio.sleep(0)
        assert not made.is_set()  # the recogniser is made when it is needed
        endings.begin(0)
        async with asyncio.timeout(20):
            await made.wait()


async def test_a_picture_is_told_of_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = corpus_house(), House()
    pictures = [first, first, second, second]
    told: list[House] = []
    looked = asyncio.Event()
    monkeypatch.setattr(endpointing, "LOOK_S", 0.0)

    def house() -> House:
        if len(pictures) == 1:
            looked.set()
            return pictures[0]
        return pictures.pop(0)

    task = asyncio.create_task(keep_names(told.append, house))
    await looked.wait()
    task.cancel()
    assert told == [first, second]


# Another endpointer that is set while somebody is speaking.


Call = tuple[object, ...]


class Noting(Endings):
    """Endings that record their input."""

    def __init__(self) -> None:
        self.told: list[Call] = []

    def begin(self, after: int) -> None:
        self.told.append(("begin", after))

    def hear(self, pcm: bytes, end: int) -> None:
        self.told.append(("hear", pcm, end))

    def hang_over_ms(self, now: int, last_voiced: int | None) -> int:
        self.told.append(("pause", now, last_voiced))
        return 300

    def end(self) -> None:
        self.told.append(("end",))


def test_it_is_made_at_the_first_sentence_and_told_what_it_missed() -> None:
    made = list[bool]()
    late, known = LateEndings(lambda: made.append(True)), Noting()
    assert not made
    late.begin(100)
    assert made == [True]
    late.hear(b"a", 320)
    assert late.hang_over_ms(640, 500) == PlainEndings().hang_over_ms(640, 500)
    late.become(known)
    late.hear(b"b", 960)
    assert late.hang_over_ms(960, 500) == 300
    assert known.told == [
        ("begin", 100),
        ("hear", b"a", 320),
        ("pause", 640, 500),
        ("hear", b"b", 960),
        ("pause", 960, 500),
    ]
    late.end()
    late.begin(2000)
    assert made == [True]
    assert known.told[-2:] == [("end",), ("begin", 2000)]


def test_between_two_sentences_nothing_was_missed() -> None:
    late, known = LateEndings(lambda: None), Noting()
    late.begin(100)
    late.hear(b"a", 320)
    late.end()
    late.become(known)
    late.begin(900)
    assert known.told == [("begin", 900)]


def test_a_sentence_of_which_it_cannot_know_all_goes_without() -> None:
    late, known = LateEndings(lambda: None), Noting()
    late.begin(0)
    for end in range(MOST + 1):
        late.hear(b"a", end)
    late.become(known)
    late.hear(b"b", MOST)
    assert known.told == [("hear", b"b", MOST)]


# Speech that lasts, and speech that passes.


CHUNK = 32 * SAMPLES_PER_MS


def told(pattern: str) -> list[SpeechHeld | SpeechPassed]:
    """Return the results for 32 ms chunks after a start of 96 ms: "x" is voiced, "." silent."""
    lasting = SpeechDuration(CHUNK)
    lasting.begin(0, 3 * CHUNK)
    voicings = (
        Voicing((4 + number) * CHUNK, 0.9 if sign == "x" else 0.1)
        for number, sign in enumerate(pattern)
    )
    return [event for voicing in voicings if (event := lasting.hear(voicing)) is not None]


@pytest.mark.parametrize(
    ("pattern", "events"),
    [
        ("xxxxx", []),  # 256 ms
        ("xxxxxx", [SpeechHeld(288, 0)]),  # nearest to 300 ms
        ("xxxxxxxxxxxxxxxx", [SpeechHeld(288, 0)]),  # once
        ("xx..xx..xx", [SpeechHeld(416, 0)]),  # a word has silent places
        ("xx.......", [SpeechPassed(160)]),
        ("xx......xxxx", [SpeechHeld(480, 0)]),  # 192 ms of silence are no pause
        ("x.......xxxxxxxxx", [SpeechPassed(128), SpeechHeld(640, 352)]),  # the rest begins anew
        ("x.......xx.......", [SpeechPassed(128), SpeechPassed(416)]),
    ],
)
def test_it_is_told_once(pattern: str, events: list[SpeechHeld | SpeechPassed]) -> None:
    assert told(pattern) == events


def test_after_its_end_nothing_is_followed() -> None:
    lasting = SpeechDuration(CHUNK)
    lasting.begin(0, 3 * CHUNK)
    lasting.reset()
    assert [lasting.hear(Voicing(end * CHUNK, 0.9)) for end in range(4, 20)] == [None] * 16
