"""Home Assistant's error texts are told in the person's language, and never read aloud."""

import re

import pytest

from assistant.speech.catalogue import Catalogue
from assistant.tools.execution.home_errors import tell_error

SAY = Catalogue()
ENTITY = re.compile(r"\b[a-z_]+\.[a-z0-9_]+\b")
# The text, and what is said of it in English.
KNOWN = [
    (
        "No entities matched the name (given name 'Flux capacitor')",
        "I can't find the flux capacitor in your home. What else is it called?",
    ),
    (
        "No entities matched the name (given name 'Lamp', area 'Bedroom')",
        "I can't find anything like that there.",
    ),
    (
        "The area does not exist (given area 'Moon', domains light)",
        "I can't find a room called Moon.",
    ),
    ("Area 'Moon' does not exist", "I can't find a room called Moon."),
    ("The floor does not exist (given floor 'Attic')", "I can't find a room called Attic."),
    (
        "Multiple entities share the name (given name 'Lamp')",
        "There's more than one device called Lamp. Please say the room too.",
    ),
    (
        "No matching entities are exposed to the assistant (given name 'Ceiling Lights')",
        "I can't control the ceiling lights. In Home Assistant, expose the device to Assist first.",
    ),
    (
        "No entities were in the area (given area 'Kitchen', domains fan)",
        "There are no fans in the kitchen.",
    ),
    (
        "No entities were in the area (given area 'Upstairs', domains siren)",
        "I can't find anything like that upstairs.",
    ),
    (
        "No entities matched the domain (given name 'Kitchen Lights', domains nonsense)",
        "I can't find anything like that there.",
    ),
    ("Item 'milk' not found on list", "I can't find milk on the list."),
    (
        "Service handler cannot target all devices",
        "Which device do you mean? Please say its name and the room.",
    ),
    (
        "Multiple entities matched, but a single target is required",
        "Which device do you mean? Please say its name and the room.",
    ),
    (
        "Provided temperature 45.0 is not valid. Accepted range is 7 to 35",
        "I can only set that to between 7 and 35.",
    ),
    (
        "Entity cover.hall does not support action cover.set_cover_position",
        "That device can't do that.",
    ),
    (
        "Service light.glow not found.",
        "That action isn't available in Home Assistant right now. "
        "Check that its integration is set up.",
    ),
    (
        'Tool "HassGlow" not found',
        "That action isn't available in Home Assistant right now. "
        "Check that its integration is set up.",
    ),
    (
        "Code format for lock.front_door doesn't match pattern ^\\d{4}$",
        "That needs a code, and I can't enter one. Use the keypad or the app.",
    ),
    (
        "Unauthorized",
        "Home Assistant won't let me do that. Check the permissions of the user I sign in as.",
    ),
    (
        "light.hall did not answer",
        "The device isn't responding. Check that it's switched on and connected.",
    ),
    ("Script script.film is already running", "That's already running."),
    (
        "Received invalid slot info for HassLightSet",
        "Home Assistant didn't accept that value. Try a different one.",
    ),
    (
        "expected float at 'brightness_pct'",
        "Home Assistant didn't accept that value. Try a different one.",
    ),
    (
        "Error handling HassClimateSetTemperature",
        "Home Assistant couldn't do that. Check the device, then try again.",
    ),
    (
        "Failed to call turn_on for: ['light.kitchen']",
        "Home Assistant couldn't do that. Check the device, then try again.",
    ),
    ("light.kitchen: KeyError 'xy_color'", "Home Assistant reported an error."),
    ("", "Home Assistant reported an error."),
]
CODES = {
    "no_intent_match": "I didn't understand that. Try saying it another way.",
    "no_valid_targets": "I can't find anything like that there.",
    "failed_to_handle": "Home Assistant couldn't do that. Check the device, then try again.",
    "unauthorized": (
        "Home Assistant won't let me do that. Check the permissions of the user I sign in as."
    ),
    "unknown": "Home Assistant reported an error.",
}


@pytest.mark.parametrize(("text", "sentence"), KNOWN)
def test_each_known_text_has_a_sentence(text: str, sentence: str) -> None:
    assert tell_error(SAY, "en", text) == sentence


@pytest.mark.parametrize(("code", "sentence"), CODES.items())
def test_a_code_tells_where_the_text_does_not(code: str, sentence: str) -> None:
    assert tell_error(SAY, "en", "Sorry, light.hall is gone", code) == sentence


@pytest.mark.parametrize("language", SAY.languages())
@pytest.mark.parametrize("text", [text for text, _ in KNOWN if text])
def test_no_language_says_the_text_or_an_id(text: str, language: str) -> None:
    told = tell_error(SAY, language, text)
    assert text.rstrip(".") not in told
    assert not ENTITY.search(told), told


@pytest.mark.parametrize("language", SAY.languages())
def test_no_sentence_of_the_catalogue_holds_an_id_or_an_error_text(language: str) -> None:
    raw = [text for text, _ in KNOWN if len(text) > 20]
    for key in SAY.keys(language):
        text = SAY.text(key, language)
        assert not ENTITY.search(text), key
        assert not [one for one in raw if one in text], key
        assert "Error " not in text, key
