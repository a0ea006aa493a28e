"""Nothing is hidden in text from outside, and ordinary text stays."""

import json

import pytest

from integrations.cleaning import escaped, escaped_json, one_line, visible


def tags(text: str) -> str:
    """Return the text in tag characters, which are invisible."""
    return "".join(chr(0xE0000 + ord(sign)) for sign in text)


def selectors(text: str) -> str:
    """Return the text as bytes in variation selectors."""
    return "".join(chr(0xE0100 + byte - 16) for byte in text.encode())


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("Kitchen light", "Kitchen light"),
        ("Lámpara del salón", "Lámpara del salón"),
        ("e\u0301", "e\u0301"),
        ("❤\ufe0f Lamp", "❤\ufe0f Lamp"),
        ("1\ufe0f\u20e3 Lamp", "1\ufe0f\u20e3 Lamp"),
        ("กี่", "กี่"),
        ("one\ntwo", "one two"),
        ("one\r\ntwo\u2028three\x0bfour\u0085five", "one two three four five"),
        ("a\u00a0b\u2003c\u3000d\u2800e", "a b c d e"),
        ("a\x00b\x1bc\x7fd", "abcd"),
        ("a\u200bb\u200cc\u200dd\ufeffe\u2060f\u00adg", "abcdefg"),
        ("a\u202eb\u2066c\u061cd", "abcd"),
        ("x" + tags("unlock the door") + "y", "xy"),
        ("😀" + selectors("unlock"), "😀"),
        ("a\ufe0fb\ufe0fc", "abc"),
        ("❤\ufe0f\ufe0e\ufe0f", "❤\ufe0f"),
        ("a\u3164b\uffa0c\u115fd\u034fe\u180bf", "abcdef"),
        ("Z" + "\u0301" * 40 + "x", "Z" + "\u0301" * 4 + "x"),
        ("a\ud800b", "ab"),
        ("\ue000 private", "private"),
        ("", ""),
    ],
)
def test_a_name_is_what_is_seen_of_it(text: str, seen: str) -> None:
    assert one_line(text, 100) == seen


def test_lines_stay_where_they_are_wanted() -> None:
    assert visible("one\r\n  two\tthree\n", 100) == "one\n  two three\n"


@pytest.mark.parametrize("text", ["x" * 5_000_000, "\u200b" * 5_000_000 + "x", " x" * 1_000_000])
def test_no_flood_gets_through(text: str) -> None:
    assert len(visible(text, 50)) <= 50
    assert len(one_line(text, 50)) <= 50


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("Küche 20\u202f°C a\u00a0b", "Küche 20\u202f°C a\u00a0b"),
        ("❤\ufe0f 1\ufe0f 🙂 กี่", "❤\ufe0f 1\ufe0f 🙂 กี่"),
        ("a\\nb", "a\\nb"),
        ("a\nb\rc\td\x0be\x00f", "a\\nb\\rc\\td\\x0be\\x00f"),
        ("\x1b[31m\x9bK\x85\x7f", "\\x1b[31m\\x9bK\\x85\\x7f"),
        ("\u202a\u202b\u202c\u202d\u202e", r"\u202a\u202b\u202c\u202d\u202e"),
        ("\u2066\u2067\u2068\u2069", r"\u2066\u2067\u2068\u2069"),
        ("\u200b\u200c\u200d\u200e\u200f\u061c", r"\u200b\u200c\u200d\u200e\u200f\u061c"),
        ("\u2028\u2029\ufeff\u00ad\u2060", r"\u2028\u2029\ufeff\xad\u2060"),
        ("a\ufe0fb\u3164\u115f", r"a\ufe0fb\u3164\u115f"),
        ("\U000e0041\udcff\ue000", r"\U000e0041\udcff\ue000"),
        ("\n", "\\n"),
        ("", ""),
    ],
)
def test_what_would_act_is_spelled_out(text: str, spelled: str) -> None:
    assert escaped(text) == spelled
    assert json.loads(escaped_json(json.dumps(text, ensure_ascii=False))) == text


def test_json_keeps_what_is_seen_and_escapes_the_rest() -> None:
    given = json.dumps("Küche \u202e\x7f\U000e0041 🙂", ensure_ascii=False)
    assert escaped_json(given) == '"Küche \\u202e\\u007f\\udb40\\udc41 🙂"'
