"""Voices: the real espeak-ng, and the real Piper with a tiny voice."""

import os
import signal
import stat
import time
from pathlib import Path

import numpy as np
import pytest

from audio.errors import InputUnusable
from audio.tts import Voice, make_voice, piper, plain
from audio.tts.espeak import EspeakVoice, espeak_name
from audio.tts.piper import PiperVoice
from tests.tiny_voice import RATE as TINY_RATE
from tests.tiny_voice import SAMPLES_PER_ID, make_tiny_voice


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_voice(tmp_path_factory.mktemp("voice"))


def seconds(pcm: bytes, rate: int) -> float:
    return len(pcm) / 2 / rate


def said(voice: Voice, text: str) -> list[bytes]:
    return [chunk.pcm for chunk in voice.speak(text)]


def script(folder: Path, text: str) -> str:
    """Write a program that replaces espeak-ng."""
    path = folder / "espeak"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_espeak_speaks_and_speed_matters() -> None:
    voice = EspeakVoice("en")
    pieces = said(voice, "The kitchen light is on.")
    sound = np.frombuffer(b"".join(pieces), np.int16)
    assert all(len(piece) % 2 == 0 for piece in pieces)
    assert len(pieces) > 3  # it streams
    assert 1.0 < len(sound) / voice.rate < 3.0
    assert np.abs(sound).max() > 5000
    fast = b"".join(said(EspeakVoice("en", speed=1.8), "The kitchen light is on."))
    assert seconds(fast, voice.rate) < 0.75 * len(sound) / voice.rate


def test_the_speed_is_asked_before_each_clause() -> None:
    speeds = iter((1.0, 2.0))
    voice = EspeakVoice("en", lambda: next(speeds))
    slow, fast = (b"".join(said(voice, "The kitchen light is on.")) for _ in range(2))
    assert len(fast) < 0.75 * len(slow)


def test_what_looks_like_an_option_is_spoken() -> None:
    voice = EspeakVoice("en")
    for text in ("--help", "-v de", "[[hello]]", "one\ntwo\x00three"):
        assert seconds(b"".join(said(voice, text)), voice.rate) > 0.2


def test_blank_text_gives_nothing() -> None:
    assert said(EspeakVoice("en"), " \n\x07 ") == []


@pytest.mark.parametrize(
    ("language", "name"),
    [
        ("en", "en-us"),
        ("en-GB", "en-gb"),
        ("es", "es"),
        ("es_MX", "es-419"),
        ("pt-BR", "pt-br"),
        ("fr", "fr-fr"),
        ("de-AT", "de"),
        ("vi", "vi"),
        ("zh", "cmn"),
    ],
)
def test_languages_have_voices(language: str, name: str) -> None:
    assert espeak_name(language) == name
    assert sum(map(len, said(EspeakVoice(language), "1 2 3"))) > 10_000


def test_an_unknown_language_is_spoken_anyway(caplog: pytest.LogCaptureFixture) -> None:
    voice = EspeakVoice("tlh")
    assert voice.name == "espeak:en-us"
    assert "'tlh'" in caplog.text


def test_a_missing_program_tells_how_to_install_it() -> None:
    with pytest.raises(InputUnusable, match="sudo apt install espeak-ng"):
        said(EspeakVoice("en", program="espeak-ng-is-not-here"), "hello")


@pytest.mark.parametrize(
    "text", ["exit 3", "cat >/dev/null; echo no sound; exit 0", "cat >/dev/null; exit 1"]
)
def test_a_failing_program_is_one_sentence(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputUnusable, match="espeak-ng"):
        said(EspeakVoice("en", program=script(tmp_path, text)), "hello")


def test_closing_the_iterator_ends_the_program(tmp_path: Path) -> None:
    log = tmp_path / "pid"
    program = script(
        tmp_path, f"echo $$ > {log}; cat >/dev/null; espeak-ng --stdout hello; exec sleep 100"
    )
    sound = EspeakVoice("en", program=program).speak("hello")
    assert next(sound)
    sound.close()  # type: ignore[attr-defined]
    with pytest.raises(ProcessLookupError):
        os.kill(int(log.read_text()), 0)


class Program:
    """A fake espeak-ng that records the ids of its processes: started, and given a text."""

    def __init__(self, folder: Path) -> None:
        self._started, self._given = folder / "started", folder / "given"
        self.path = script(
            folder,
            f'echo "$$ $*" >> {self._started}; text=$(cat); [ -n "$text" ] || exit\n'
            f'echo "$$ $text" >> {self._given}; exec espeak-ng --stdout "$text"',
        )

    def started(self, count: int) -> list[str]:
        """Return the ids once there are `count`."""
        until = time.monotonic() + 10
        while len(lines := _lines(self._started)) < count and time.monotonic() < until:
            time.sleep(0.001)
        assert len(lines) == count
        return [line.split()[0] for line in lines]

    @property
    def given(self) -> list[str]:
        """Return pairs of id and text."""
        return _lines(self._given)


def _lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


def is_alive(process: str) -> bool:
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    return True


def test_the_next_process_waits_before_there_is_a_text(tmp_path: Path) -> None:
    program = Program(tmp_path)
    voice = EspeakVoice("en", program=program.path, ahead=True)
    assert said(voice, "one")
    first, second = program.started(2)
    assert is_alive(second)
    assert not is_alive(first)
    assert said(voice, "two")
    assert program.given == [f"{first} one", f"{second} two"]
    *_, third = program.started(3)
    del voice
    assert not is_alive(third), "nobody can give it a text any more"


def test_without_being_told_nothing_is_started_ahead(tmp_path: Path) -> None:
    program = Program(tmp_path)
    voice = EspeakVoice("en", program=program.path)
    assert said(voice, "one")
    assert said(voice, "two")
    assert len(program.started(2)) == len(program.given)


def test_one_that_was_started_at_another_speed_or_has_ended_is_not_used(tmp_path: Path) -> None:
    program, speed = Program(tmp_path), 1.0
    voice = EspeakVoice("en", lambda: speed, program=program.path, ahead=True)
    assert said(voice, "one")
    _, waits = program.started(2)
    speed = 2.0
    assert said(voice, "two")
    assert not is_alive(waits)
    *_, waits = program.started(4)
    os.kill(int(waits), signal.SIGKILL)
    os.waitid(os.P_PID, int(waits), os.WEXITED | os.WNOWAIT)
    assert said(voice, "three")
    assert [line.split()[1] for line in program.given] == ["one", "two", "three"]
    assert waits not in [line.split()[0] for line in program.given]


def test_a_program_that_may_not_run_is_not_called_missing(tmp_path: Path) -> None:
    program = tmp_path / "espeak-ng"
    program.write_text("no program")
    voice = EspeakVoice("en", program=str(program))
    with pytest.raises(InputUnusable, match=r"espeak-ng does not start: Permission denied\.$"):
        said(voice, "one")


def test_where_none_can_be_started_ahead_this_clause_is_said(tmp_path: Path) -> None:
    program = Program(tmp_path)
    voice = EspeakVoice("en", program=program.path, ahead=True)
    sound = voice.speak("one")
    assert next(sound)
    Path(program.path).unlink()
    assert list(sound)
    with pytest.raises(InputUnusable, match="not installed"):
        said(voice, "two")


def test_piper_gives_one_piece_for_each_sentence(tiny: Path) -> None:
    voice = PiperVoice(tiny)
    assert (voice.name, voice.rate) == ("piper:tiny", TINY_RATE)
    normal = said(voice, "Hello there. How are you?")
    fast = said(PiperVoice(tiny, speed=2.0), "Hello there. How are you?")
    assert [len(piece) for piece in normal] == [2 * len(piece) for piece in fast]
    asked = said(PiperVoice(tiny, lambda: 2.0), "Hello there. How are you?")
    assert list(map(len, asked)) == list(map(len, fast))
    assert len(normal) == 2
    assert np.abs(np.frombuffer(normal[0], np.int16)).max() > 10_000
    assert said(voice, "  ") == []


def test_piper_uses_two_threads_at_most_and_gives_memory_back(tiny: Path) -> None:
    options = PiperVoice(tiny)._voice.session.get_session_options()
    assert (options.intra_op_num_threads, options.inter_op_num_threads) == (2, 1)
    assert options.get_session_config_entry("session.intra_op.allow_spinning") == "0"
    assert not options.enable_cpu_mem_arena, "it would keep the memory of the longest clause"


def test_make_voice_takes_piper_when_it_can(tiny: Path) -> None:
    assert make_voice("piper", "en", tiny).name == "piper:tiny"
    assert make_voice("espeak", "en", tiny).name == "espeak:en-us"
    with pytest.raises(InputUnusable, match=r"voice\.engine"):
        make_voice("festival", "en", None)


def test_a_broken_or_missing_voice_is_one_sentence_with_its_mend(
    tmp_path: Path, tiny: Path
) -> None:
    junk = tmp_path / "junk.onnx"
    junk.write_bytes(b"no model")
    alone = tmp_path / "alone.onnx"
    alone.write_bytes(tiny.read_bytes())
    junk.with_name("junk.onnx.json").write_text(tiny.with_name("tiny.onnx.json").read_text())
    for model in (junk, alone, tmp_path / "missing.onnx", None):
        with pytest.raises(InputUnusable, match=r"voice\.models") as caught:
            make_voice("piper", "en", model)
        assert "\n" not in str(caught.value)


def test_a_model_that_cannot_tell_its_durations_speaks_all_the_same(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(piper, "durations_output", lambda model: b"\xff" * 20)
    chunks = list(PiperVoice(tiny).speak("Hello there."))
    assert [chunk.ends for chunk in chunks] == [()]
    assert len(chunks[0].pcm) > 1_000


def test_the_speaker_is_one_of_the_voice_s(tmp_path: Path, tiny: Path) -> None:
    path = make_tiny_voice(tmp_path, speakers=("amy", "bob"))
    with_two = [PiperVoice(path, speaker=who) for who in ("bob", "1", "0", "amy", "")]
    assert [voice._speaker for voice in with_two] == [1, 1, 0, 0, None]
    assert said(with_two[0], "Hello.") == said(with_two[4], "Hello."), "this one ignores it"
    for wrong in ("eve", "2", "-1"):
        with pytest.raises(InputUnusable, match=f'no speaker "{wrong}".* 0 to 1 or .* amy, bob'):
            PiperVoice(path, speaker=wrong)
    assert PiperVoice(tiny, speaker="0")._speaker == 0
    with pytest.raises(InputUnusable, match="has only one speaker"):
        PiperVoice(tiny, speaker="eve")


def test_sentences_are_as_loud_as_the_model_makes_them(tiny: Path) -> None:
    voice = PiperVoice(tiny)._voice
    loudest = np.abs(voice.phoneme_ids_to_audio(voice.phonemes_to_ids(["a"]))).max()
    (pcm,) = said(PiperVoice(tiny), "[a]")
    assert np.abs(np.frombuffer(pcm, np.int16)).max() == pytest.approx(loudest * 32767, abs=200)


def test_a_voice_that_knows_its_durations_tells_where_words_end(tmp_path: Path) -> None:
    voice = PiperVoice(make_tiny_voice(tmp_path, durations=True))
    (chunk,) = voice.speak("The kitchen light is on.")
    assert len(chunk.ends) == 5
    assert list(chunk.ends) == sorted(chunk.ends)
    assert all(end % SAMPLES_PER_ID == 0 for end in chunk.ends)
    # The full stop, the end mark and the padding of each phoneme come after the last word.
    assert len(chunk.pcm) // 2 - chunk.ends[-1] == 3 * SAMPLES_PER_ID
    faster = PiperVoice(tmp_path / "tiny.onnx", speed=2.0).speak("The kitchen light is on.")
    assert next(faster).ends == tuple(end // 2 for end in chunk.ends)


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("One. Two three.", [1, 2]),
        ("Dr. Smith is on. Two.", [1, 3, 1]),
        ("Of the 1234 lamps, two - or three - are on.", [9 + 2]),  # joined, split, without sound
        ("4321", [1]),
        ("...", []),
    ],
)
def test_each_word_ends_in_one_chunk(tmp_path: Path, text: str, ends: list[int]) -> None:
    chunks = list(PiperVoice(make_tiny_voice(tmp_path, durations=True)).speak(text))
    assert [len(chunk.ends) for chunk in chunks if chunk.ends] == ends
    for chunk in chunks:
        assert list(chunk.ends) == sorted(chunk.ends)
        assert all(0 < end <= len(chunk.pcm) // 2 for end in chunk.ends)


def test_words_are_not_told_where_they_are_not_known(tiny: Path, tmp_path: Path) -> None:
    assert all(chunk.ends == () for chunk in PiperVoice(tiny).speak("One two."))
    knows = PiperVoice(make_tiny_voice(tmp_path, durations=True))
    assert all(chunk.ends == () for chunk in knows.speak("a[[b]]c and d")), "not these words"


def test_engines_get_one_plain_line() -> None:
    assert plain("a\n b\t[[c]]\x1b d ") == "a b c d"
