"""Tests of the decoder that follows a sentence and shortens or lengthens its pause."""

import re
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import replace
from typing import Any

import pytest

from assistant.conversation.endpointing import PAUSE_MS, PauseVerdict, hang_over
from assistant.conversation.grammar_endpointer import GrammarEndpointer
from audio.errors import InputUnusable
from audio.recognize.protocol import Grammar
from audio.recognize.sphinx import SphinxLive
from tests.benchmarks.scale.houses import picture
from tests.corpus.house import corpus_house

COMPLETE, UNFINISHED, UNKNOWN = (
    PAUSE_MS[one] for one in (PauseVerdict.COMPLETE, PauseVerdict.UNFINISHED, PauseVerdict.UNKNOWN)
)
LITTLE = hang_over(PauseVerdict.UNKNOWN, 0)  # was said, of which nothing is known
FRAME = bytes(640)
MS = 16


class Later(Executor):
    """Does its work when the test allows it."""

    def __init__(self) -> None:
        self.tasks: list[Callable[[], Any]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.tasks.append(lambda: fn(*args, **kwargs))
        return Future()

    def work(self) -> None:
        while self.tasks:
            self.tasks.pop(0)()


class Recognizer(SphinxLive):
    """Hears what the test gives it."""

    def __init__(self, broken: bool = False) -> None:
        self.said: tuple[str, ...] = ()
        self.last_begins = 0  # sample of the sound given, at which the last word begins
        self.given = 0  # bytes
        self.grammars = 0
        self.jsgf = ""  # of the last one
        self.stops = 0
        self._broken = broken

    def unknown(self, words: Sequence[str]) -> list[str]:
        return []

    def prepare(self, grammar: Grammar) -> None:
        if self._broken:
            raise InputUnusable("no such grammar")
        self.grammars += 1
        self.jsgf = grammar.jsgf
        assert re.findall("^public .*", grammar.jsgf, re.MULTILINE) == [
            "public <unended> = <said> [and | and then | um | uh];"
        ]

    def start(self, pcm: bytes) -> None:
        self.given = len(pcm)

    def hear(self, pcm: bytes) -> None:
        self.given += len(pcm)

    def words(self, before: int) -> tuple[str, ...]:
        return self.said if self.last_begins < before else self.said[:-1]

    def stop(self) -> None:
        self.stops += 1


class Stage:
    """A sentence in stream time."""

    def __init__(self) -> None:
        self.recognizer, self.worker = Recognizer(), Later()
        self.endings = GrammarEndpointer(self.recognizer, self.worker, "en")
        self.endings.use(corpus_house())
        self.worker.work()
        self.now = 0
        self.endings.begin(0)

    def listen(self, ms: int, voiced: bool, work: bool = True) -> int:
        """Hear `ms` more of sound and return the hang-over at its end."""
        hang_over = 0
        for _ in range(ms // 20):
            self.now += 320
            self.endings.hear(FRAME, self.now)
            if voiced:
                self.last_voiced = self.now
            hang_over = self.endings.hang_over_ms(self.now, self.last_voiced)
            if work:
                self.worker.work()
        return hang_over

    def quiet(self, ms: int) -> None:
        """Hear silence before anybody speaks."""
        for _ in range(ms // 20):
            self.now += 320
            self.endings.hear(FRAME, self.now)
            assert self.endings.hang_over_ms(self.now, None) == LITTLE


@pytest.mark.parametrize(
    ("said", "hang_over"),
    [
        ("turn on the kitchen light", COMPLETE),
        ("wakeword turn on the kitchen light", COMPLETE),
        ("turn on the", UNFINISHED),
        ("turn on the kitchen light and", UNFINISHED),
        ("turn on the kitchen light uh", UNFINISHED),
        ("", UNKNOWN),
        ("why did you turn on the", UNKNOWN),
        ("never mind", UNKNOWN),
    ],
)
def test_the_pause_is_as_long_as_the_words_allow(said: str, hang_over: int) -> None:
    stage = Stage()
    stage.quiet(500)
    stage.recognizer.said = tuple(said.split())
    assert stage.listen(1600, voiced=True) == UNKNOWN  # nothing is asked while they speak
    assert stage.listen(100, voiced=False) == UNKNOWN
    assert stage.listen(100, voiced=False) == hang_over


def test_the_newest_look_at_a_pause_counts() -> None:
    stage = Stage()
    stage.quiet(500)
    stage.listen(1600, voiced=True)
    stage.recognizer.said = tuple("set the kitchen light to green".split())
    assert stage.listen(200, voiced=False) == COMPLETE
    stage.recognizer.said = tuple("set the kitchen light to".split())
    assert stage.listen(80, voiced=False) == UNFINISHED


def test_silence_does_not_make_half_a_command_whole() -> None:
    stage = Stage()
    stage.quiet(500)
    stage.listen(1600, voiced=True)
    stage.recognizer.said = tuple("set the kitchen light to".split())
    assert stage.listen(200, voiced=False) == UNFINISHED
    stage.recognizer.said = tuple("set the kitchen light to green".split())
    assert stage.listen(400, voiced=False) == UNFINISHED
    stage.listen(300, voiced=True)
    assert stage.listen(200, voiced=False) == COMPLETE


def test_a_short_sentence_is_decoded_at_its_pause() -> None:
    stage = Stage()
    stage.quiet(500)
    stage.recognizer.said = ("turn", "on", "the", "zorblax")
    stage.listen(400, voiced=True)
    assert stage.recognizer.given == 0
    assert stage.listen(200, voiced=False) == COMPLETE
    assert stage.recognizer.given > 0


def test_a_verdict_counts_for_its_own_pause_only() -> None:
    stage = Stage()
    stage.quiet(500)
    stage.recognizer.said = ("turn", "on", "the", "lamp")
    stage.listen(1600, voiced=True)
    stage.listen(200, voiced=False)
    assert stage.listen(200, voiced=True) == UNKNOWN
    stage.recognizer.said = ("turn", "on", "the")
    assert stage.listen(200, voiced=False) == UNFINISHED


def test_words_that_come_late_in_the_pause_still_count() -> None:
    stage = Stage()
    stage.quiet(500)
    stage.listen(1600, voiced=True)
    assert stage.listen(240, voiced=False) == UNKNOWN
    stage.recognizer.said = ("turn", "on", "the", "hall", "light")
    assert stage.listen(120, voiced=False) == COMPLETE


@pytest.mark.parametrize(
    ("before_ms", "hang_over"),
    [(200, COMPLETE), (100, COMPLETE), (30, UNFINISHED), (-40, UNFINISHED)],
)
def test_a_word_heard_in_the_pause_counts_for_nothing(before_ms: int, hang_over: int) -> None:
    """A noise after the last word must not turn half a command into a whole one."""
    stage = Stage()
    stage.quiet(500)
    stage.listen(1600, voiced=True)
    first = stage.now // MS - 1600 - 300  # of the decoder's sound, but for the filter's lag
    stage.recognizer.said = tuple("switch the hall light on".split())
    stage.recognizer.last_begins = (stage.now // MS - before_ms - first) * MS
    assert stage.listen(200, voiced=False) == hang_over


@pytest.mark.parametrize(("before_ms", "hang_over"), [(220, UNFINISHED), (150, COMPLETE)])
def test_a_short_and_is_none(before_ms: int, hang_over: int) -> None:
    stage = Stage()
    stage.quiet(500)
    stage.listen(1600, voiced=True)
    first = stage.now // MS - 1600 - 300
    stage.recognizer.said = tuple("turn on the lamp and".split())
    stage.recognizer.last_begins = (stage.now // MS - before_ms - first) * MS
    assert stage.listen(200, voiced=False) == hang_over


def test_a_decoder_that_is_not_done_changes_nothing() -> None:
    stage = Stage()
    stage.quiet(500)
    stage.recognizer.said = ("turn", "on", "the", "hall", "light")
    stage.listen(1600, voiced=True, work=False)
    assert stage.listen(400, voiced=False, work=False) == UNKNOWN


def test_a_decoder_that_falls_behind_is_given_no_more() -> None:
    stage = Stage()
    stage.quiet(500)
    stage.listen(6000, voiced=True, work=False)
    waiting = len(stage.worker.tasks)
    stage.listen(3000, voiced=True, work=False)
    assert len(stage.worker.tasks) == waiting
    stage.recognizer.said = ("turn", "on", "the", "hall", "light")
    assert stage.listen(400, voiced=False) == UNKNOWN


def test_too_little_sound_is_no_reason_to_fail() -> None:
    stage = Stage()
    stage.recognizer.said = ("turn", "on", "the", "hall", "light")
    stage.last_voiced = 0
    stage.now = 3200
    assert stage.listen(40, voiced=False) == LITTLE
    assert stage.recognizer.given == 0


def test_nothing_of_a_sentence_is_left_for_the_next() -> None:
    stage = Stage()
    stage.quiet(500)
    stage.recognizer.said = ("turn", "on", "the", "lamp")
    stage.listen(1600, voiced=True)
    assert stage.listen(200, voiced=False) == COMPLETE
    stage.endings.begin(stage.now)
    stage.worker.work()
    assert stage.recognizer.stops == 1
    assert stage.endings.hang_over_ms(stage.now, stage.last_voiced) == LITTLE


def test_without_a_sentence_there_is_no_verdict() -> None:
    stage = Stage()
    stage.endings.end()
    stage.last_voiced = 0
    assert stage.listen(1000, voiced=False) == LITTLE


def test_the_grammar_is_built_when_names_change() -> None:
    stage = Stage()
    stage.endings.use(corpus_house())
    stage.worker.work()
    assert stage.recognizer.grammars == 1


def test_a_grammar_that_cannot_be_built_is_told_of(caplog: pytest.LogCaptureFixture) -> None:
    worker = Later()
    endings = GrammarEndpointer(Recognizer(broken=True), worker, "en")
    endings.use(corpus_house())
    worker.work()
    assert "no such grammar" in caplog.text


def test_of_a_large_house_it_knows_the_names_of_its_room() -> None:
    recognizer, worker = Recognizer(), Later()
    endings = GrammarEndpointer(recognizer, worker, "en", "Outer Bathroom")
    endings.use(picture(5_000))
    worker.work()
    assert "outer bathroom ceiling light" in recognizer.jsgf
    assert "outer kitchen thermostat" in recognizer.jsgf  # of the same floor
    assert "north pantry thermostat" not in recognizer.jsgf
    assert len(recognizer.jsgf) < 40_000


def test_a_state_that_changes_builds_nothing_anew() -> None:
    recognizer, worker = Recognizer(), Later()
    endings = GrammarEndpointer(recognizer, worker, "en")
    house = corpus_house()
    endings.use(house)
    worker.work()
    light = replace(house.entities["light.kitchen"], state="on")
    endings.use(replace(house, entities={**house.entities, light.entity_id: light}))
    worker.work()
    assert recognizer.grammars == 1
