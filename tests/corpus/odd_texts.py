"""Texts that no person would write but some model may, and what must hold for their speech."""

import unicodedata

from hypothesis import strategies as st

from assistant.speech.speakable import ENTITY, speakable

LANGUAGES = ("en", "es", "pt", "de", "fr", "vi", "it")  # the last has no table
_LEFT_TO_THE_VOICE = "°"  # in a language without a table
_MARKUP = '*_`#|~<>[]{}\\^"“”«»=@&'
_FRAGMENTS = st.sampled_from(
    ["light.kitchen", "**", "`", "```", "](http://a.bc)", "[x", "![", "<b>", "</p", "&lt;", "21.5",
     "°C", "-", "6:05", "a. m.", "\n", "| a | b |", "|---|---|", "1. ", "🔒", "👨‍👩‍👧", "🇺🇸", "1️⃣",
     "\u200b", "\u200d", "\ufe0f", "\u202e", "&#46;", "\x00", "\x1b[31m", "..", "٣", "½", "$",
     "3/4", "_", "sensor", ".", "kitchen", " ", "1,234", ":", "'", "2026-11-21", "T18:30:00Z",
     "Nov", "1st", "555-0123", "+34", "v2", "kWh", "€/kWh", " K", "in", "–", "/",
     "µg/m³", "CO2", "PM2.5", "10^3", "x", "#5", "<!--", "-->", '{"a": ', "null}", "Dr.",
     "5. mai 2026", "MÄRZ", "3 de İ", "ſat", "Sa", "févr.", "lun", "9 Uhr", "sáb", "ABRIL",
     "p.ej.", "http://", "www.", "@", ":)", "lock.front_door_2", "º", "PT1H"]
)  # fmt: skip
TEXTS = st.lists(st.one_of(_FRAGMENTS, st.text(max_size=4)), max_size=14).map("".join)


def check_speech(written: str, language: str) -> None:
    """Nothing but speech comes out: no markup, control character, emoji or raw entity id."""
    spoken = speakable(written, language)
    assert not set(spoken) & set(_MARKUP), (written, spoken)
    for char in spoken:
        kind = unicodedata.category(char)
        assert kind[0] not in "CZ" or char == " ", (written, char, kind)
        left = language == "it" and char in _LEFT_TO_THE_VOICE
        assert kind not in ("So", "Sk", "Me") or left, (written, char, kind)
    assert not ENTITY.search(spoken), (written, spoken)
    assert spoken == spoken.strip(), (written, spoken)
    assert not spoken or any(char.isalnum() for char in spoken), (written, spoken)
