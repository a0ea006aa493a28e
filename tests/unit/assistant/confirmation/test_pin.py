"""Tests of the PIN: three wrong ones lock it, even over a restart and with a clock set back."""

import logging
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import SecretStr

from assistant.confirmation.pin import MAX_WORDS, PinGuard, read_digits
from assistant.domain.clock import VirtualClock
from tests.fakes.small_values import FakeValues

PIN = "48151"
MINUTE = 60.0


@pytest.fixture
def store() -> FakeValues:
    return FakeValues()


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def guard(store: FakeValues, clock: VirtualClock) -> PinGuard:
    return PinGuard(SecretStr(PIN), store, clock)


async def lock(guard: PinGuard) -> None:
    """Enter three wrong PINs."""
    for _ in range(3):
        assert await guard.check("0000") == "wrong"


async def is_locked_for(guard: PinGuard, clock: VirtualClock, seconds: float) -> None:
    """Check that the right PIN is refused for `seconds`; the guard is open afterwards."""
    assert await guard.check(PIN) == "locked"
    clock.advance(seconds - 1)
    assert await guard.check(PIN) == "locked"
    clock.advance(1)


async def test_the_right_one(guard: PinGuard, store: FakeValues) -> None:
    assert await guard.check(PIN) == "right"
    assert store.values == {}


@pytest.mark.parametrize("digits", ["", "4815", "481511", "48152", "०", "48151 "])
async def test_another_one(guard: PinGuard, digits: str) -> None:
    assert await guard.check(digits) == "wrong"


@pytest.mark.parametrize("digits", ["", "0000"])
async def test_without_a_pin_nothing_is_right(
    store: FakeValues, clock: VirtualClock, digits: str
) -> None:
    assert await PinGuard(SecretStr(""), store, clock).check(digits) == "wrong"


async def test_three_wrong_ones_lock_for_fifteen_minutes(
    guard: PinGuard, clock: VirtualClock
) -> None:
    await lock(guard)
    assert await guard.check("0000") == "locked"
    await is_locked_for(guard, clock, 15 * MINUTE)
    assert await guard.check(PIN) == "right"


async def test_each_lock_out_is_twice_as_long_up_to_a_day(
    guard: PinGuard, clock: VirtualClock
) -> None:
    for minutes in (15, 30, 60, 120, 240, 480, 960, 1440, 1440):
        await lock(guard)
        await is_locked_for(guard, clock, minutes * MINUTE)


async def test_many_lock_outs_are_still_a_day(store: FakeValues, clock: VirtualClock) -> None:
    store.values["pin_attempts"] = {"wrong": 2, "locks": 100_000, "since": None}
    guard = PinGuard(SecretStr(PIN), store, clock)
    assert await guard.check("0000") == "wrong"
    await is_locked_for(guard, clock, 24 * 60 * MINUTE)


async def test_the_right_one_begins_anew(guard: PinGuard, clock: VirtualClock) -> None:
    await lock(guard)
    clock.advance(15 * MINUTE)
    assert await guard.check("0000") == "wrong"
    assert await guard.check(PIN) == "right"
    assert await guard.check("0000") == "wrong"
    assert await guard.check("0000") == "wrong"
    assert await guard.check(PIN) == "right"
    await lock(guard)
    await is_locked_for(guard, clock, 15 * MINUTE)


async def test_a_restart_changes_nothing(store: FakeValues, clock: VirtualClock) -> None:
    for _ in range(3):
        assert await PinGuard(SecretStr(PIN), store, clock).check("0000") == "wrong"
    await is_locked_for(PinGuard(SecretStr(PIN), store, clock), clock, 15 * MINUTE)
    assert await PinGuard(SecretStr(PIN), store, clock).check(PIN) == "right"
    assert await PinGuard(SecretStr(PIN), store, clock).check("0000") == "wrong"


async def test_wrong_ones_of_another_process_count_too(
    store: FakeValues, clock: VirtualClock
) -> None:
    resident, other = (PinGuard(SecretStr(PIN), store, clock) for _ in range(2))
    assert await resident.check(PIN) == "right"
    assert await resident.check("0000") == "wrong"
    for _ in range(2):
        assert await other.check("0000") == "wrong"
    await is_locked_for(resident, clock, 15 * MINUTE)
    assert await resident.check(PIN) == "right"
    assert await other.check(PIN) == "right"  # and this ends the lock-out for both


async def test_a_clock_that_was_set_back_locks_for_the_whole_time_again(
    store: FakeValues, clock: VirtualClock
) -> None:
    await lock(PinGuard(SecretStr(PIN), store, clock))
    earlier = VirtualClock(datetime(2020, 1, 1, tzinfo=UTC))
    guard = PinGuard(SecretStr(PIN), store, earlier)
    await is_locked_for(guard, earlier, 15 * MINUTE)
    assert await guard.check(PIN) == "right"


async def test_a_clock_set_back_while_it_runs(store: FakeValues) -> None:
    class Turned(VirtualClock):
        back = timedelta()

        def now(self) -> datetime:
            return super().now() - self.back

    clock = Turned()
    guard = PinGuard(SecretStr(PIN), store, clock)
    await lock(guard)
    clock.advance(14 * MINUTE)
    clock.back = timedelta(hours=1)
    await is_locked_for(guard, clock, 15 * MINUTE)
    assert await guard.check(PIN) == "right"


@pytest.mark.parametrize(
    "value",
    [
        "x",
        [],
        {},
        {"wrong": "0", "locks": 0, "since": None},
        {"wrong": -9, "locks": 0, "since": None},
        {"wrong": 0, "locks": 0, "since": 1.0},
        {"wrong": 0, "locks": 1, "since": "now"},
        {"wrong": 0, "locks": 1, "since": float("nan")},
        {"wrong": 0, "locks": None, "since": None},
    ],
)
async def test_what_is_not_ours_in_the_store_locks_once(
    store: FakeValues, clock: VirtualClock, value: object
) -> None:
    store.values["pin_attempts"] = value
    guard = PinGuard(SecretStr(PIN), store, clock)
    await is_locked_for(guard, clock, 15 * MINUTE)
    assert await guard.check(PIN) == "right"


async def test_a_store_that_cannot_be_read_keeps_it_locked(
    guard: PinGuard, store: FakeValues
) -> None:
    store.readable = False
    assert await guard.check(PIN) == "locked"
    store.readable = True
    assert await guard.check(PIN) == "right"


async def test_a_store_that_cannot_be_written_gives_no_further_tries(
    guard: PinGuard, store: FakeValues, clock: VirtualClock
) -> None:
    store.writable = False
    await lock(guard)
    await is_locked_for(guard, clock, 15 * MINUTE)
    assert await guard.check(PIN) == "right"


async def test_nothing_of_the_pin_is_told(
    store: FakeValues, clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    pin, wrong = "481516234208", "777777777777"  # too long to occur in an address
    guard = PinGuard(SecretStr(pin), store, clock)
    caplog.set_level(logging.DEBUG)
    await guard.check(wrong)
    store.writable = False
    await guard.check(wrong)
    await guard.check(pin)
    told = f"{guard!r} {vars(guard)} {store.values} {caplog.text}"
    assert pin not in told
    assert wrong not in told
    assert "in memory only" in caplog.text


# PINs in spoken, typed and transcribed form.


@pytest.mark.parametrize(
    ("text", "languages", "digits"),
    [
        ("1234", "en", "1234"),
        ("1 2 3 4", "en", "1234"),
        ("1-2-3-4.", "en", "1234"),
        ("1,234", "en", "1234"),
        ("12:34", "en", "1234"),
        ("one two three four", "en", "1234"),
        ("One, two, three, four.", "en", "1234"),
        ("ONE 2 three 4", "en", "1234"),
        ("zero oh o nought", "en", "0000"),
        ("twelve thirty-four", "en", "1234"),
        ("twenty twenty five", "en", "2025"),
        ("twenty oh five", "en", "2005"),
        ("ninety nine ten", "en", "9910"),
        ("double five one two", "en", "5512"),
        ("one triple seven", "en", "1777"),
        ("double 5 double oh", "en", "5500"),
        ("the PIN is one two three four, please", "en", "1234"),
        ("uh, my code is 1 2 3 4. Thanks!", "en", "1234"),
        ("it's 1234", "en-GB", "1234"),
        ("uno dos tres cuatro", "es", "1234"),
        ("doce treinta y cuatro", "es", "1234"),
        ("veintidós cero nueve", "es-MX", "2209"),
        ("dieciséis dieciseis", "es", "1616"),
        ("mi PIN es doble cinco uno dos, por favor", "es", "5512"),
        ("doze trinta e quatro", "pt", "1234"),
        ("um dois três meia", "pt", "1236"),
        ("o código é um dois três quatro", "pt", "1234"),
        ("eins zwo drei vier", "de", "1234"),
        ("zwölf vierunddreißig", "de", "1234"),
        ("zwölf vier und dreissig", "de", "1234"),
        ("einundzwanzig null fünf bitte", "de", "2105"),
        ("un deux trois quatre", "fr", "1234"),
        ("douze trente-quatre", "fr", "1234"),
        ("soixante et onze vingt et un", "fr", "7121"),
        ("quatre-vingt-dix-sept quatre-vingts", "fr", "9780"),
        ("nonante-deux septante et un", "fr", "9271"),
        ("le code est un deux trois quatre s'il te plaît", "fr", "1234"),
        ("một hai ba bốn", "vi", "1234"),
        ("mười hai ba mươi tư", "vi", "1234"),
        ("không bốn hai mươi lăm", "vi", "0425"),
        ("one two three four", "es en", "1234"),
        ("uno dos tres cuatro", "en es de", "1234"),
        ("six", "en fr", "6"),
        ("one two three four", "it", "1234"),
        ("zero one", "", "01"),
    ],
)
def test_reads_digits(text: str, languages: str, digits: str) -> None:
    assert read_digits(text, languages.split()) == digits


@pytest.mark.parametrize(
    ("text", "languages"),
    [
        ("", "en"),
        ("please", "en"),
        ("the pin is", "en"),
        ("one two three four cats", "en"),
        ("unlock the door 1234", "en"),
        ("one thousand two hundred", "en"),
        ("one two three uno", "en es"),
        ("uno dos tres cuatro", "en"),
        ("double", "en"),
        ("one double", "en"),
        ("double thirty", "en"),
        ("double 12", "en"),
        ("double double five", "en"),
        ("double the pin is five", "en"),
        ("１２３４", "en"),
        ("١٢٣٤", "en"),
        ("²³", "en"),
        ("1\u200b234", "en"),
        ("1+2=3", "en"),
        ("12a4", "en"),
        ("1 " * (MAX_WORDS + 1), "en"),
        ("<1234>", "en"),
    ],
)
def test_anything_else_is_no_pin(text: str, languages: str) -> None:
    assert read_digits(text, languages.split()) == ""


def test_a_wake_word_may_stand_in_front() -> None:
    assert read_digits("Okay Nabu, one two three four", ["en"], ["okay nabu", ""]) == "1234"
    assert read_digits("Okay Nabu, one two three four", ["en"]) == ""


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "forty-two"),
        ("es", "cuarenta y dos"),
        ("pt", "quarenta e dois"),
        ("de", "zweiundvierzig"),
        ("fr", "quarante-deux"),
        ("vi", "bốn mươi hai"),
    ],
)
def test_what_two_languages_share_is_read_once(language: str, words: str) -> None:
    assert read_digits(words, [language]) == "42"
    assert read_digits(words, ["en", "es", "pt", "de", "fr", "vi"]) == "42"
