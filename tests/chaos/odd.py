"""Invalid data: odd values, JSON that was changed in one place, garbled bytes.

All of it comes from a seeded generator, so that a failing run can be repeated.
"""

import copy
import json
import os
from collections.abc import Iterator
from random import Random
from typing import Any

LONG = os.environ.get("LONG") == "1"

TEXTS = (
    *("", " ", "\0", "a" * 5_000, "\u202ekcol eht", "\u200b", "\N{COLLISION SYMBOL}" * 300),
    *("\ud800", "\udfff\ud800", "\u0301" * 200, "\r\nX-Odd: 1", "../../etc/passwd", "%n%s%x"),
    *("{{ 7 * 7 }}", "'; DROP TABLE turns; --", "<script>alert(1)</script>", "$(reboot)"),
    *("[" * 300, "(" * 300, "{x}" * 40, "(a;b;c;d;e;f;g;h;i;j;k)", "[a] " * 40, "<rule>", "(a+)+$"),
    *(
        "1e999",
        "-0",
        "NaN",
        "null",
        "0x10",
        "\uff11\uff12",
        "\u0661",
        "99:99",
        "24:00",
        "9999-99-99",
    ),
    *("Europe/Nowhere", "http://[::1", "http://127.0.0.1:1/x", "file:///etc/passwd", "a.b.c" * 50),
)
NUMBERS = (
    *(0, -1, 1, 2, 255, 256, 65_536, 2**31, 2**53 + 1, 2**63, -(2**63) - 1, 2**64, 10**400),
    *(-0.0, 0.5, 1e-300, 1e308, float("inf"), float("-inf"), float("nan")),
)
_DEEP = 60  # levels; what is nested deeper is a matter of bytes


def so_many(short: int, long: int) -> int:
    """Return the number of tries; LONG=1 tries more."""
    return long if LONG else short


def odd(chance: Random) -> Any:
    """Return any JSON value."""
    kind = chance.randrange(8)
    if kind < 3:
        return chance.choice(TEXTS)
    if kind < 5:
        return chance.choice(NUMBERS)
    if kind == 5:
        return chance.choice((None, True, False, [], {}, [[]], {"": {}}))
    if kind == 6:
        return [odd(chance) for _ in range(chance.randrange(1, 4))]
    return _nested(chance.randrange(1, _DEEP), chance.choice(TEXTS))


def changed(value: Any, chance: Random) -> Any:
    """Change one place of the value: replace, remove, double or rename it."""
    whole = copy.deepcopy([value])
    holder, key = chance.choice(list(_places(whole)))
    how = chance.randrange(10)
    if how < 6 or (holder is whole and how < 9):
        holder[key] = odd(chance)
    elif how == 6:
        del holder[key]
    elif how == 7 and isinstance(holder, list):
        holder.insert(chance.randrange(len(holder) + 1), holder[key])
    elif how == 7:
        holder[f"{key}x"] = holder.pop(key)
    elif how == 8:
        holder[key] = [holder[key]]
    else:
        holder[key] = {"odd": holder[key]}
    return whole[0] if whole else None


def as_json(value: Any) -> str:
    """Return JSON with NaN and the like, as many writers produce it."""
    return json.dumps(value, ensure_ascii=True)


def wrong(plain: Any, chance: Random, *, torn: bool) -> bytes:
    """Return the value as JSON with one place changed; `torn`: with its bytes garbled as well."""
    sent = as_json(changed(plain, chance)).encode()
    return garbled(sent, chance) if torn else sent


def garbled(data: bytes, chance: Random) -> bytes:
    """Garble the bytes: flip, cut, double, lengthen, or nest without end."""
    out = bytearray(data)
    for _ in range(chance.randrange(1, 4)):
        at, how = chance.randrange(len(out) + 1), chance.randrange(7)
        if how == 0 and at < len(out):
            out[at] ^= 1 << chance.randrange(8)
        elif how == 1:
            del out[at:]
        elif how == 2:
            out[at:at] = out[: min(at, 400)]
        elif how == 3:
            out[at:at] = bytes(chance.randrange(256) for _ in range(chance.randrange(1, 40)))
        elif how == 4:
            out[at:at] = chance.choice((b"[", b'{"a":', b"\xff", b"\0", b"\n", b"\r\n\r\n")) * (
                chance.choice((1, 3, 3_000))
            )
        elif how == 5:
            del out[at : at + chance.randrange(1, 20)]
        else:
            out[at:at] = b"9" * chance.choice((1, 20, 5_000))
    return bytes(out)


def _nested(depth: int, value: Any) -> Any:
    for level in range(depth):
        value = [value] if level % 2 else {"a": value}
    return value


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place in it: its container and its key."""
    keys = range(len(value)) if isinstance(value, list) else list(value)
    for key in keys:
        yield value, key
        if isinstance(value[key], (dict, list)):
            yield from _places(value[key])
