"""Tests of the meaning of a typed line."""

import pytest

from assistant.setup.answers import (
    SoundWish,
    Unclear,
    read_address,
    read_languages,
    read_room,
    sound_wish,
    yes_or_no,
)

ROOMS = ("Attic", "Kitchen", "Living Room", "Salón")


@pytest.mark.parametrize(
    ("line", "default", "meant"),
    [
        ("", True, True),
        ("", False, False),
        ("Yes", False, True),
        ("sí", False, True),
        ("ja.", False, True),
        ("N", True, False),
        ("nein", True, False),
    ],
)
def test_yes_and_no_in_any_language(line: str, default: bool, meant: bool) -> None:
    assert yes_or_no(line, default) is meant


def test_anything_else_is_no_yes() -> None:
    with pytest.raises(Unclear, match="yes or no"):
        yes_or_no("why not", True)


@pytest.mark.parametrize(
    ("line", "codes"),
    [("en", ("en",)), ("en, es-MX", ("en", "es-MX")), ("es en es", ("es", "en"))],
)
def test_language_codes(line: str, codes: tuple[str, ...]) -> None:
    assert read_languages(line) == codes


@pytest.mark.parametrize("line", ["", "English", "e"])
def test_what_is_no_language_code(line: str) -> None:
    with pytest.raises(Unclear, match="such as en"):
        read_languages(line)


@pytest.mark.parametrize(
    ("line", "url"),
    [
        ("192.168.1.5", "http://192.168.1.5:8123"),
        ("ha.lan:8124", "http://ha.lan:8124"),
        ("https://home.example/", "https://home.example"),
        (" http://homeassistant.local:8123 ", "http://homeassistant.local:8123"),
    ],
)
def test_an_address_is_completed(line: str, url: str) -> None:
    assert read_address(line) == url


@pytest.mark.parametrize("line", ["ftp://ha", "http://", "my house", "http://[::1", "demo demo"])
def test_what_is_no_address(line: str) -> None:
    with pytest.raises(Unclear, match="address"):
        read_address(line)


@pytest.mark.parametrize(
    ("line", "room"),
    [
        ("2", "Kitchen"),
        ("kitchen", "Kitchen"),
        ("liv", "Living Room"),
        ("SALÓN", "Salón"),
        ("-", ""),
    ],
)
def test_a_room_by_number_or_name(line: str, room: str) -> None:
    assert read_room(line, ROOMS) == room


@pytest.mark.parametrize(
    ("line", "told"),
    [("kitchn", "did you mean Kitchen"), ("9", "no such room"), ("", "- for none")],
)
def test_a_room_that_is_not_there(line: str, told: str) -> None:
    with pytest.raises(Unclear, match=told):
        read_room(line, ROOMS)


@pytest.mark.parametrize(
    ("line", "wish"),
    [
        ("", SoundWish(settled=True)),
        ("yes", SoundWish(settled=True)),
        ("r", SoundWish(again=True)),
        ("n", SoundWish(later=True)),
        ("m2", SoundWish(microphone=1, again=True)),
        ("s1 m2", SoundWish(microphone=1, speaker=0, again=True)),
    ],
)
def test_what_to_do_about_the_sound(line: str, wish: SoundWish) -> None:
    assert sound_wish(line, microphones=2, speakers=1) == wish


@pytest.mark.parametrize("line", ["m3", "s2", "m0", "x1", "m", "loud"])
def test_devices_that_are_not_there(line: str) -> None:
    with pytest.raises(Unclear, match="m2 or s1"):
        sound_wish(line, microphones=2, speakers=1)
