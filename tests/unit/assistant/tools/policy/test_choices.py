"""Tests of the mode while Hearth runs: switched, stored, and restored after a time."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from assistant.app.guards import LOOK_S, PolicyContexts, rulings_of
from assistant.config.schema import Settings
from assistant.domain.clock import VirtualClock
from assistant.domain.records import StoreError
from assistant.domain.tool_call import Mode, PolicyContext, Tier
from assistant.journal.store import Store
from assistant.speech.catalogue import Catalogue
from assistant.speech.output import SpeechOutput
from assistant.speech.synthesis import Voices
from assistant.tools.builtin.box_settings import SetMode
from assistant.tools.builtin.protocol import BuiltIn, BuiltInRequest
from assistant.tools.catalog.menu import build_menu
from assistant.tools.policy.choices import (
    POLICY_MODE,
    ModeKeeper,
    Narrowing,
    Profiles,
    may_use,
    widens,
)
from assistant.tools.policy.engine import judge
from assistant.tools.policy.ratings import Ratings
from assistant.tools.policy.rules import OwnerRule, Ruling, Rulings
from integrations.home_assistant.house import House

TRUSTING, NORMAL, ASK, GUEST = Mode


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
async def store(tmp_path: Path, clock: VirtualClock) -> AsyncIterator[Store]:
    async with Store(tmp_path / "hearth.db", clock) as opened:
        yield opened


def after(clock: VirtualClock, minutes: float) -> datetime:
    return clock.now() + timedelta(minutes=minutes)


async def test_it_falls_back_by_time(store: Store, clock: VirtualClock) -> None:
    keeper = ModeKeeper(store, clock, NORMAL)
    assert (keeper.current, keeper.until) == (NORMAL, None)
    await keeper.set(GUEST, after(clock, 10))
    assert (keeper.current, keeper.until) == (GUEST, after(clock, 10))
    await clock.run(599)
    assert keeper.current is GUEST
    await clock.run(1)
    assert (keeper.current, keeper.until) == (NORMAL, None)


async def test_it_survives_a_restart(store: Store, clock: VirtualClock) -> None:
    await ModeKeeper(store, clock, NORMAL).set(GUEST, after(clock, 10))
    later = ModeKeeper(store, clock, NORMAL)
    await later.load()
    assert later.current is GUEST
    await clock.run(600)
    much_later = ModeKeeper(store, clock, NORMAL)
    await much_later.load()
    assert much_later.current is NORMAL
    await much_later.set(ASK)
    await much_later.set(NORMAL)  # this is the configured mode, so nothing has to be kept
    assert await store.kept(POLICY_MODE) is None


@pytest.mark.parametrize(
    "odd",
    [
        *(7, [], "guest", {}, {"mode": "party", "until": None}, {"mode": "guest"}),
        {"mode": "guest", "until": "tomorrow"},
        {"mode": "guest", "until": "2026-01-01T00:00:00"},
    ],
)
async def test_what_cannot_be_read_counts_as_nothing(
    store: Store, clock: VirtualClock, odd: Any
) -> None:
    await store.keep(POLICY_MODE, odd)
    keeper = ModeKeeper(store, clock, ASK)
    await keeper.load()
    assert keeper.current is ASK


# Columns: configured mode, current mode (and minutes), requested mode (and minutes), whether that
# is less strict.
LOOSENING: list[tuple[Mode, tuple[Mode, float | None], tuple[Mode, float | None], bool]] = [
    (NORMAL, (NORMAL, None), (GUEST, None), False),
    (NORMAL, (NORMAL, None), (GUEST, 10), False),
    (NORMAL, (NORMAL, None), (TRUSTING, None), True),
    (NORMAL, (NORMAL, None), (TRUSTING, 10), True),
    (NORMAL, (GUEST, None), (NORMAL, None), True),
    (NORMAL, (GUEST, None), (ASK, None), True),
    (NORMAL, (GUEST, None), (GUEST, None), False),
    (NORMAL, (GUEST, None), (GUEST, 10), True),  # the mode would expire then
    (NORMAL, (GUEST, 20), (GUEST, 10), True),
    (NORMAL, (GUEST, 10), (GUEST, 20), False),
    (NORMAL, (ASK, 20), (GUEST, 10), True),
    (NORMAL, (ASK, 10), (GUEST, 10), False),
    (TRUSTING, (NORMAL, 10), (NORMAL, None), False),
    (GUEST, (NORMAL, 10), (GUEST, None), False),
]


@pytest.mark.parametrize(("configured", "held", "asked", "loosens"), LOOSENING)
async def test_what_makes_for_more_trust(
    store: Store,
    clock: VirtualClock,
    configured: Mode,
    held: tuple[Mode, float | None],
    asked: tuple[Mode, float | None],
    loosens: bool,
) -> None:
    keeper = ModeKeeper(store, clock, configured)
    await keeper.set(held[0], after(clock, held[1]) if held[1] else None)
    assert keeper.loosens(asked[0], after(clock, asked[1]) if asked[1] else None) is loosens


class Full:
    """A disk that stores nothing."""

    async def keep(self, name: str, value: Any) -> None:
        raise StoreError("the disk is full")

    async def kept(self, name: str) -> Any | None:
        return None

    async def drop_kept(self, name: str) -> None:
        raise StoreError("the disk is full")


REQUEST = BuiltInRequest("1", "turn", "guest mode", "en")


async def test_by_asking(store: Store, clock: VirtualClock) -> None:
    keeper = ModeKeeper(store, clock, NORMAL)
    tool = SetMode(keeper, Catalogue(), clock).tool()
    said = await tool.run({"mode": "guest", "minutes": 30}, REQUEST)
    assert (said.sentence, said.failed) == ("Guest mode is on until 12:30.", False)
    assert keeper.current is GUEST
    for mode in Mode:
        for language in ("en", "es"):
            request = BuiltInRequest("1", "turn", None, language)
            assert (await tool.run({"mode": mode}, request)).sentence


async def test_a_full_disk_is_told_and_the_mode_holds(clock: VirtualClock) -> None:
    keeper = ModeKeeper(Full(), clock, NORMAL)
    said = await SetMode(keeper, Catalogue(), clock).tool().run({"mode": "guest"}, REQUEST)
    assert said.failed
    assert keeper.current is GUEST
    await keeper.load()  # the disk does not have it
    assert keeper.current is GUEST


def ruling(tool: BuiltIn, mode: str, rulings: Rulings, moment: PolicyContext) -> Ruling:
    (entry,) = build_menu((), {}, (tool,)).entries
    verdict = judge(entry, {"mode": mode}, House(), "x", "", rulings=rulings, moment=moment)
    assert not verdict.ask or Catalogue().say(verdict.ask, "es", **verdict.values)
    return verdict.ruling


async def test_more_trust_is_confirmed_and_more_caution_is_free(
    store: Store, clock: VirtualClock
) -> None:
    keeper = ModeKeeper(store, clock, NORMAL)
    tool = SetMode(keeper, Catalogue(), clock).tool()
    plain, pin = Rulings(), Rulings(has_pin=True)
    assert ruling(tool, "guest", plain, PolicyContext()) is Ruling.ALLOW
    assert ruling(tool, "trusting", plain, PolicyContext()) is Ruling.CONFIRM
    assert ruling(tool, "trusting", Rulings(secure="pin"), PolicyContext()) is Ruling.PIN
    await keeper.set(ASK)
    assert ruling(tool, "guest", plain, PolicyContext(ASK)) is Ruling.ALLOW
    await keeper.set(GUEST)
    guest = PolicyContext(GUEST)
    assert ruling(tool, "normal", plain, guest) is Ruling.CONFIRM
    assert ruling(tool, "normal", Rulings(secure="allow"), guest) is Ruling.CONFIRM
    assert ruling(tool, "normal", pin, guest) is Ruling.PIN
    assert ruling(tool, "normal", Rulings(secure="deny"), guest) is Ruling.DENY


async def test_ratings_are_kept(store: Store) -> None:
    ratings = Ratings(store)
    await ratings.rate({"script.a": Tier.COMFORT})
    await Ratings(store).rate({"script.b": Tier.SECURE})
    await ratings.rate({"script.c": Tier.COSTLY})
    again = Ratings(store)
    await again.load()
    wanted = {"script.a": Tier.COMFORT, "script.b": Tier.SECURE, "script.c": Tier.COSTLY}
    assert again.tiers == ratings.tiers == wanted


@pytest.mark.parametrize("odd", [7, [], {"script.a": "nothing"}, {"script.a": "read"}])
async def test_odd_ratings_are_left_out(store: Store, odd: Any) -> None:
    await store.keep("ratings", odd)
    ratings = Ratings(store)
    await ratings.load()
    assert ratings.tiers == {}


def settings(**policy: Any) -> Settings:
    assistant = {"name": "Box", "area": "Kitchen"}
    return Settings.model_validate({"assistant": assistant, "policy": policy})


async def test_the_settings_as_the_policy_takes_them(store: Store, clock: VirtualClock) -> None:
    night = {"domain": "lock", "from": "22:00", "to": "07:00", "decide": "pin"}
    given = settings(mode="ask", costly="allow", pin="1234", rules=[night])
    rulings = rulings_of(given.policy)
    (rule,) = rulings.rules
    assert (rulings.costly, rulings.secure, rulings.has_pin) == ("allow", "confirm", True)
    assert (rule.decide, rule.domain) == (Ruling.PIN, "lock")
    assert (f"{rule.begins:%H:%M}", f"{rule.ends:%H:%M}") == ("22:00", "07:00")
    assert isinstance(rule, OwnerRule)
    moments = PolicyContexts(store, clock, given)
    await moments.load()
    told = moments()
    assert (told.mode, told.satellite) == (ASK, ("Box", "Kitchen"))
    assert told.now == clock.now().time()


async def test_what_another_process_changes_is_seen(
    store: Store, clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    moments = PolicyContexts(store, clock, settings())
    await moments.load()
    following = asyncio.ensure_future(moments.follow())
    await ModeKeeper(store, clock, NORMAL).set(GUEST)
    await Ratings(store).rate({"script.a": Tier.COMFORT})
    for _ in range(100):
        await clock.run(LOOK_S)
        await store.kept(POLICY_MODE)  # the disk has answered the earlier request
        if moments().ratings:
            break
    assert (moments().mode, moments().ratings) == (GUEST, {"script.a": Tier.COMFORT})
    following.cancel()


async def test_a_disk_that_cannot_be_read_leaves_all_as_it_is(
    clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(Full):
        async def kept(self, name: str) -> Any | None:
            raise StoreError("the disk is broken")

    moments = PolicyContexts(Broken(), clock, settings(mode="ask"))
    following = asyncio.ensure_future(moments.follow())
    await clock.run(2 * LOOK_S + 1)
    assert moments().mode is ASK
    assert "the disk is broken" in caplog.text
    following.cancel()


class Mouth(SpeechOutput):
    """Records with which voices it is to speak."""

    def __init__(self) -> None:
        self.voices: Voices | None = None

    def use(self, voices: Voices | None) -> None:
        self.voices = voices


class Tools:
    """Records the calls about each turn."""

    def __init__(self) -> None:
        self.allowed: dict[str, Sequence[str]] = {}

    def narrow(self, turn_id: str, allowed: Sequence[str]) -> None:
        self.allowed[turn_id] = allowed


def profile_settings(**profiles: Any) -> Settings:
    return Settings.model_validate({"assistant": {"languages": ["en", "es"]}, "profiles": profiles})


def test_a_turn_begins_as_its_profile_has_it() -> None:
    mouth, tools, made = Mouth(), Tools(), list[Settings]()

    def make_voices(given: Settings) -> Voices:
        made.append(given)

        def voice(language: str) -> Any:
            return language

        return voice

    given = profile_settings(
        abuela={"language": "es", "local_voice": "es_ES-davefx-medium", "tools": ["HassTurn*"]},
        plain={"persona": "Be brief."},
    )
    profiles = Profiles(given, mouth, tools.narrow, make_voices)
    assert [one.voice.models["es"].model for one in made] == ["es_ES-davefx-medium"]
    assert made[0].voice.models["en"] == given.voice.models["en"]

    assert profiles.begin("t1", "abuela") == "es"
    assert mouth.voices is not None
    assert tools.allowed["t1"] == ("HassTurn*",)

    assert profiles.begin("t2", "plain") == ""
    assert mouth.voices is None
    assert tools.allowed["t2"] == ()

    assert profiles.begin("t3", "") == ""
    assert profiles.begin("t4", "gone") == ""


def test_without_a_language_the_voice_is_that_of_the_first() -> None:
    made: list[Settings] = []

    def make_voices(given: Settings) -> Voices:
        made.append(given)
        return lambda language: pytest.fail("nobody speaks")

    Profiles(profile_settings(kids={"local_voice": "x"}), Mouth(), Tools().narrow, make_voices)
    assert made[0].voice.models["en"].model == "x"


@pytest.mark.parametrize(
    ("present", "wanted", "more"),
    [
        ("", "", False),
        ("", "kids", False),
        ("kids", "", True),
        ("kids", "plain", True),
        ("kids", "kids", False),
        ("kids", "lamps", True),
        ("lamps", "kids", False),
        ("plain", "", False),
    ],
)
def test_who_may_use_more_tools_than_before(present: str, wanted: str, more: bool) -> None:
    given = profile_settings(kids={"tools": ["a"]}, lamps={"tools": ["a", "b"]}, plain={})
    assert widens(given, present, wanted) is more


@pytest.mark.parametrize(
    ("present", "wanted", "more"),
    [
        ("private", "", True),  # the default is the cloud
        ("private", "plain", True),
        ("private", "cloud", True),
        ("alone", "private", True),  # requests to Home Assistant may be processed elsewhere too
        ("private", "alone", False),
        ("cloud", "alone", False),  # only the device itself remains
        ("cloud", "private", True),
        ("cloud", "", True),
        ("", "private", False),
        ("plain", "", False),
        ("all", "", False),
        ("private", "private", False),
    ],
)
def test_whose_words_go_to_more_brains_than_before(present: str, wanted: str, more: bool) -> None:
    given = profile_settings(
        private={"brain": ["home-assistant", "offline"]},
        alone={"brain": ["offline"]},
        cloud={"brain": ["gemini-once"]},
        all={"brain": ["offline", "home-assistant", "gemini-once", "gemini-live"]},
        plain={},
    )
    assert widens(given, present, wanted) is more


def test_fewer_tools_make_up_for_no_brain() -> None:
    given = profile_settings(
        private={"brain": ["offline"], "tools": ["a", "b"]}, kids={"tools": ["a"]}, plain={}
    )
    assert widens(given, "private", "kids")


@pytest.mark.parametrize(
    ("names", "allowed", "may"),
    [
        (("HassTurnOn",), (), True),
        (("HassTurnOn",), ("HassTurnOn",), True),
        (("intent__HassTurnOn", "HassTurnOn"), ("HassTurnOn",), True),
        (("HassTurnOff",), ("HassTurnOn",), False),
        (("HassTurnOff",), ("HassTurn*",), True),
        (("hassturnoff",), ("HassTurn*",), False),
        (("search",), ("s?arch", "x"), True),
        (("switch_profile",), ("HassTurnOn",), False),
    ],
)
def test_which_tools(names: tuple[str, ...], allowed: tuple[str, ...], may: bool) -> None:
    assert may_use(names, allowed) is may


def test_a_turn_and_the_work_begun_in_it_are_narrowed() -> None:
    narrowing = Narrowing()
    narrowing.narrow("t1", ("HassTurnOn",))
    assert narrowing.allows("t1", ("HassTurnOn",))
    assert not narrowing.allows("t1", ("HassTurnOff",))
    assert not narrowing.allows("t1-call-1", ("HassTurnOff",))
    assert narrowing.allows("t2", ("HassTurnOff",))
    assert narrowing.allows("t10", ("HassTurnOff",))


def test_a_turn_without_a_list_is_not() -> None:
    narrowing = Narrowing()
    narrowing.narrow("t1", ())
    assert narrowing.allows("t1", ("HassTurnOff",))


def test_only_so_many_turns_are_remembered() -> None:
    narrowing = Narrowing()
    for number in range(1_001):
        narrowing.narrow(f"t{number}", ("x",))
    assert narrowing.allows("t0", ("y",))
    assert not narrowing.allows("t1000", ("y",))
