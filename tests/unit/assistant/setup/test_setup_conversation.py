"""Tests of the questions of setup: which are asked, how many, and the effect of each answer."""

from dataclasses import replace

import pytest

from assistant.config.schema import Settings
from assistant.models.shelf import read_manifest
from assistant.setup.answers import MOST, Answers, Gone
from assistant.setup.conversation import SetupDialog
from assistant.setup.services import HouseFacts
from audio.errors import InputUnusable
from integrations.errors import IntegrationError, Misconfigured, SignInAgain, Unavailable
from integrations.home_assistant.discovery import FoundHome
from tests.unit.assistant.setup.doubles import (
    DEVICES,
    FACTS,
    HOME,
    KEY,
    TOKEN,
    Remembering,
    Scripted,
)

KNOWN = read_manifest()
ADDRESS, TOKENS, ROOM, LANGUAGES = "ddress", "Token", "for none", "Codes"
SOUND, CLOUD, KEYS, PAGE = "Did you hear me", "Use Gemini?", "Key", "home network"
SET_UP = Settings.model_validate(
    {
        "home_assistant": {"url": HOME.url, "token": TOKEN},
        "assistant": {"area": "Kitchen", "languages": ["es", "en"]},
        "voice": {"models": {"es": "es_ES-davefx-medium", "en": "en_GB-alan-medium"}},
        "privacy": {"accept_cloud": True},
        "gemini": {"api_key": KEY},
    }
)
LATER = (LANGUAGES, SOUND, CLOUD, PAGE)
ENTER = [(part, "") for part in (ADDRESS, TOKENS, ROOM, LANGUAGES, SOUND, CLOUD, KEYS, PAGE)]


async def talk(
    person: Scripted,
    means: Remembering,
    present: Settings | None = None,
    given: Answers | None = None,
    **more: bool,
) -> tuple[Answers, SetupDialog]:
    again = present is not None
    conversation = SetupDialog(
        person, means, present or Settings(), given or Answers(), KNOWN, again=again, **more
    )
    answers = await conversation.hold()
    person.done()
    return answers, conversation


def wrong(url: str, token: str) -> IntegrationError | None:
    return None if token == TOKEN else SignInAgain("Make a new long-lived token.")


async def test_everything_asked_is_eight_questions() -> None:
    person = Scripted(
        (ADDRESS, "1"),
        (TOKENS, TOKEN),
        (ROOM, "salón"),
        (LANGUAGES, "es, en"),
        (SOUND, ""),
        (CLOUD, "yes"),
        (KEYS, KEY),
        (PAGE, "yes"),
    )
    answers, conversation = await talk(person, Remembering())
    assert answers == Answers(
        url=HOME.url,
        token=TOKEN,
        area="Salón",
        languages=("es", "en"),
        voices={"es": "es_ES-davefx-medium"},
        accept_cloud=True,
        gemini_key=KEY,
        console_host="0.0.0.0",
    )
    assert len(conversation.questions.asked) == MOST == 8
    assert conversation.questions.left == 0


async def test_rooms_that_could_not_be_read_are_told_and_typed() -> None:
    person = Scripted(
        (ADDRESS, "1"), (TOKENS, TOKEN), ("room's name", "Attic"), *[(part, "") for part in LATER]
    )
    means = Remembering(facts=HouseFacts("Casa", "2026.11.0", unread="The connection closed."))
    answers, _ = await talk(person, means)
    assert answers.area == "Attic"
    assert person.heard("The rooms in Home Assistant couldn't be read: The connection closed.")
    assert not person.heard("has listed no rooms")


async def test_with_enter_alone_it_stays_in_the_house() -> None:
    person = Scripted(*[(part, "") for part, _ in ENTER if part not in (TOKENS, KEYS)])
    means = Remembering()
    answers, conversation = await talk(person, means, given=Answers(token=TOKEN))
    assert answers.accept_cloud is None
    assert answers.console_host is None
    assert answers.url == HOME.url
    assert answers.area is None
    assert person.defaults[LANGUAGES] == "es"  # Home Assistant's own
    assert means.keys == []
    assert len(conversation.questions.asked) == 6


async def test_run_again_enter_changes_nothing() -> None:
    person, means = Scripted(*ENTER), Remembering()
    answers, _ = await talk(person, means, SET_UP)
    assert answers == Answers()
    assert means.visited == [(HOME.url, TOKEN)]
    assert person.defaults[ROOM] == "Kitchen"
    assert person.defaults[CLOUD] == "yes"
    assert person.defaults[TOKENS] == ""  # a secret is never shown


async def test_run_again_one_answer_changes_one_thing() -> None:
    script = [(part, "Salón" if part == ROOM else "") for part, _ in ENTER]
    answers, _ = await talk(Scripted(*script), Remembering(), SET_UP)
    assert answers == Answers(area="Salón")


async def test_a_yes_is_taken_back() -> None:
    script = [(part, "no" if part == CLOUD else "") for part, _ in ENTER if part != KEYS]
    means = Remembering()
    answers, _ = await talk(Scripted(*script), means, SET_UP)
    assert answers == Answers(accept_cloud=False)
    assert means.keys == []


async def test_an_area_that_the_house_does_not_list_is_kept_by_enter() -> None:
    present = SET_UP.model_copy(
        update={"assistant": SET_UP.assistant.model_copy(update={"area": "kitchenette"})}
    )
    answers, _ = await talk(Scripted(*ENTER), Remembering(), present)
    assert answers == Answers()


async def test_a_wrong_token_is_asked_again_and_the_address_is_not() -> None:
    person = Scripted((ADDRESS, "1"), (TOKENS, "wrong"), (TOKENS, TOKEN), *ENTER[2:6], ENTER[7])
    means = Remembering(house=wrong)
    answers, conversation = await talk(person, means)
    assert answers.token == TOKEN
    assert means.visited == [(HOME.url, "wrong"), (HOME.url, TOKEN)]
    assert person.heard("long-lived")
    assert len(conversation.questions.asked) == 7  # asked twice, it is one question


async def test_a_house_that_is_away_is_asked_for_again() -> None:
    person = Scripted((ADDRESS, "10.0.0.9"), (ADDRESS, ""), (TOKENS, TOKEN), *ENTER[2:6], ENTER[7])
    means = Remembering(away=["http://10.0.0.9:8123"])
    answers, _ = await talk(person, means)
    assert answers.url == HOME.url
    assert person.heard("Home Assistant does not answer.")
    assert means.reached == ["http://10.0.0.9:8123", HOME.url]  # before its token is asked for
    assert means.visited == [(HOME.url, TOKEN)]


async def test_a_wrong_token_does_not_make_it_check_the_address_again() -> None:
    person = Scripted((ADDRESS, "1"), (TOKENS, "wrong"), (TOKENS, TOKEN), *ENTER[2:6], ENTER[7])
    means = Remembering(house=wrong)
    await talk(person, means)
    assert means.reached == [HOME.url]


async def test_demo_is_an_address_without_a_token() -> None:
    person = Scripted((ADDRESS, "Demo"), *ENTER[2:6], ENTER[7])
    means = Remembering()
    answers, conversation = await talk(person, means)
    assert (answers.url, answers.token) == ("demo", None)
    assert (means.reached, means.visited) == ([], [("demo", "")])
    assert len(conversation.questions.asked) == 6
    assert person.heard("The simulated house answers (Casa).")


async def test_a_skipped_house_leaves_address_and_token_as_they_were() -> None:
    person = Scripted((ADDRESS, "skip"), (ROOM, "Attic"), *ENTER[3:6], ENTER[7])
    means = Remembering()
    answers, _ = await talk(person, means)
    assert (answers.url, answers.token, answers.area) == (None, None, "Attic")
    assert (means.reached, means.visited) == ([], [])
    assert person.heard(
        "Skipped. Until then Hearth can't control anything: hearth setup asks for it again."
    )


@pytest.mark.parametrize("line", ["", "skip"])
async def test_a_skipped_token_leaves_the_address(line: str) -> None:
    person = Scripted((ADDRESS, "1"), (TOKENS, line), (ROOM, ""), *ENTER[3:6], ENTER[7])
    means = Remembering()
    answers, _ = await talk(person, means)
    assert (answers.url, answers.token, answers.area) == (HOME.url, None, None)
    assert means.visited == []
    assert person.heard("add a token with hearth setup --token-file FILE.")


async def test_every_step_can_be_skipped() -> None:
    steps = (ADDRESS, ROOM, LANGUAGES, SOUND, CLOUD, PAGE)
    script = [(part, "skip" if part in (ADDRESS, SOUND) else "") for part in steps]
    answers, _ = await talk(Scripted(*script), Remembering())
    assert answers == Answers(languages=("en",))
    keys = Scripted(*gemini((CLOUD, "yes"), (KEYS, "skip")))
    answers, _ = await talk(keys, Remembering(), LOCAL)
    assert answers == Answers(accept_cloud=True)


async def test_several_homes_are_a_choice() -> None:
    other = FoundHome("Cabin", "http://10.1.1.1:8123")
    person = Scripted((ADDRESS, "2"), (TOKENS, TOKEN), *ENTER[2:6], ENTER[7])
    answers, _ = await talk(person, Remembering(homes=(HOME, other)))
    assert answers.url == other.url
    assert person.heard("2  Cabin  http://10.1.1.1:8123")


async def test_where_none_is_found_the_address_is_typed() -> None:
    person = Scripted((ADDRESS, "ha.lan"), (TOKENS, TOKEN), *ENTER[2:6], ENTER[7])
    answers, _ = await talk(person, Remembering(homes=()))
    assert answers.url == "http://ha.lan:8123"
    assert person.defaults[ADDRESS] == "http://homeassistant.local:8123"


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (Answers(url=HOME.url, token="wrong"), SignInAgain("no")),
        (Answers(url="http://x:1", token=TOKEN), Misconfigured("no")),
    ],
)
async def test_what_a_flag_says_wrongly_ends_it(given: Answers, error: IntegrationError) -> None:
    with pytest.raises(type(error)):
        await talk(Scripted(), Remembering(house=lambda url, token: error), given=given)


async def test_what_flags_answer_is_not_asked() -> None:
    given = Answers(
        url=HOME.url,
        token=TOKEN,
        area="",
        languages=("en",),
        input="mic-2",
        accept_cloud=False,
        console_host="127.0.0.1",
    )
    answers, conversation = await talk(Scripted(), Remembering(), given=given)
    assert answers == given
    assert conversation.questions.asked == []


async def test_a_closed_terminal_ends_it() -> None:
    with pytest.raises(Gone):
        await talk(Scripted((ADDRESS, "1"), (TOKENS, "EOF")), Remembering())


# --- the sound


def sound(*lines: str) -> list[tuple[str, str]]:
    """Return a script of empty answers, with these lines for the sound."""
    script = [pair for pair in ENTER if pair[0] != SOUND]
    return [*script[:4], *((SOUND, line) for line in lines), *script[4:]]


async def test_another_microphone_is_tried_before_it_is_taken() -> None:
    person, means = Scripted(*sound("m2", "")), Remembering()
    answers, conversation = await talk(person, means, SET_UP)
    assert answers == Answers(input="mic-2")
    assert means.greeted == [("default", "default"), ("mic-2", "default")]
    assert len(conversation.questions.asked) == 8
    assert person.heard('I heard "okay nabu", with a score of 0.97 out of 1.')
    assert person.heard("The level is good")


async def test_later_leaves_the_sound_as_it_was() -> None:
    answers, _ = await talk(Scripted(*sound("m2 s1", "n")), Remembering(), SET_UP)
    assert answers == Answers()


async def test_a_device_that_fails_is_told_and_asked_about_all_the_same() -> None:
    person = Scripted(*sound(""))
    means = Remembering(silent=InputUnusable("The microphone is taken: close other programs."))
    await talk(person, means, SET_UP)
    assert person.heard("close other programs")


async def test_without_a_microphone_nothing_is_asked() -> None:
    person = Scripted(*sound())
    answers, _ = await talk(person, Remembering(found=DEVICES[2:]), SET_UP)
    assert answers == Answers()
    assert person.heard("no microphone")


# --- Gemini


def gemini(*lines: tuple[str, str]) -> list[tuple[str, str]]:
    return [*ENTER[:5], *lines, ENTER[7]]


LOCAL = SET_UP.model_copy(
    update={"privacy": Settings().privacy, "gemini": Settings().gemini},
)


async def test_the_four_lines_come_before_the_yes_and_nothing_goes_before_it() -> None:
    person = Scripted(*gemini((CLOUD, "no")))
    means = Remembering()
    await talk(person, means, LOCAL)
    for part in ("What leaves your home", "Who gets it", "What it costs", "Which terms apply"):
        assert person.heard(part)
    assert means.keys == []


async def test_a_yes_by_a_flag_is_told_what_it_is_to() -> None:
    person = Scripted(*gemini((KEYS, KEY)))
    answers, _ = await talk(person, Remembering(), LOCAL, Answers(accept_cloud=True))
    assert answers == Answers(accept_cloud=True, gemini_key=KEY)
    for part in ("What leaves your home", "Who gets it", "What it costs", "Which terms apply"):
        assert person.heard(part)


async def test_a_refused_key_is_asked_again() -> None:
    def refused(key: str) -> IntegrationError | None:
        return None if key == KEY else SignInAgain("Gemini does not accept gemini.api_key.")

    person = Scripted(*gemini((CLOUD, "yes"), (KEYS, "x" * 39), (KEYS, KEY)))
    means = Remembering(google=refused)
    answers, _ = await talk(person, means, LOCAL)
    assert answers == Answers(accept_cloud=True, gemini_key=KEY)
    assert means.keys == ["x" * 39, KEY]
    assert person.heard("This does not look like a Google key: those begin with AIza or AQ.")
    assert person.heard("Gemini Live works.")


async def test_vertex_needs_no_key() -> None:
    vertex = {"project": "mine", "location": "us-central1", "credentials_file": "a.json"}
    chosen = LOCAL.gemini.model_copy(update={f"vertex_{key}": vertex[key] for key in vertex})
    person, means = Scripted(*gemini((CLOUD, "yes"))), Remembering()
    answers, _ = await talk(person, means, LOCAL.model_copy(update={"gemini": chosen}))
    assert answers == Answers(accept_cloud=True)
    assert person.heard("Google accepts your Vertex AI credentials for gemini-3.8-live.")
    assert not person.heard("This does not look like a Google key")


async def test_a_problem_of_live_is_told_and_the_key_is_kept() -> None:
    person = Scripted(*gemini((CLOUD, "yes"), (KEYS, KEY)))
    answers, _ = await talk(person, Remembering(live=["live session: refused"]), LOCAL)
    assert answers == Answers(accept_cloud=True, gemini_key=KEY)
    assert person.heard("live session: refused")
    assert not person.heard("Gemini Live works.")


async def test_what_is_no_key_goes_nowhere() -> None:
    person = Scripted(*gemini((CLOUD, "yes"), (KEYS, "my key"), (KEYS, "")))
    means = Remembering()
    answers, _ = await talk(person, means, LOCAL)
    assert answers == Answers(accept_cloud=True)
    assert means.keys == []
    assert person.heard("Without a key, Gemini isn't used")


async def test_a_key_that_could_not_be_tried_is_kept() -> None:
    person = Scripted(*gemini((CLOUD, "yes"), (KEYS, KEY)))
    means = Remembering(google=lambda key: Unavailable("Gemini cannot be reached."))
    answers, _ = await talk(person, means, LOCAL)
    assert answers == Answers(accept_cloud=True, gemini_key=KEY)
    assert person.heard("Could not test the key")


# --- voices


async def test_a_voice_that_did_not_come_is_told() -> None:
    person = Scripted(*ENTER)
    await talk(person, Remembering(no_voice="The disk is full."), SET_UP)
    assert person.heard("The disk is full. Until then, Hearth speaks with espeak-ng.")


async def test_voices_are_fetched_for_the_languages_that_were_said() -> None:
    script = [(part, "de" if part == LANGUAGES else "") for part, _ in ENTER]
    means = Remembering()
    answers, _ = await talk(Scripted(*script), means, SET_UP)
    assert answers == Answers(languages=("de",), voices={"de": "de_DE-thorsten-medium"})
    [settings] = means.fetched
    assert settings.voice.models["de"].model == "de_DE-thorsten-medium"


async def test_a_language_of_the_house_that_is_no_code_is_not_offered() -> None:
    person = Scripted((ADDRESS, "1"), (TOKENS, TOKEN), *ENTER[2:6], ENTER[7])
    await talk(person, Remembering(facts=replace(FACTS, language="Klingon")))
    assert person.defaults[LANGUAGES] == "en"
