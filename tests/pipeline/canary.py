"""Secrets that are recognised in any form in which they may leak."""

import base64
import html
import json
import tomllib
import urllib.parse
from collections.abc import Iterable
from pathlib import Path

_WORDS = "zero one two three four five six seven eight nine".split()

# Characters that are encoded in an address, in JSON or in a repr; all are valid in a header.
SECRETS = {
    "the house's token": "c4nary-House/+=&%7e'x",
    "a wrong token of the house": "c4nary-Stranger/+=&%7e'x",
    "Gemini's key": "c4nary-Gemini/+=&%7e'x",
    "a wrong key of Gemini": "c4nary-Imposter/+=&%7e'x",
    "the PIN": "907346182507",
    "a server's environment": "c4nary-Vault/+=&%7e'x",
    "a server's header": "Bearer c4nary-Far/+=&%7e'x",
    "the administrator's token": "c4nary-Http/+=&%7e'x",
    "the broker's password": "c4nary-Mqtt/+=&%7e'x",
}


def forms(secret: str) -> frozenset[bytes]:
    """Return all forms of a secret: as it is, in an address, in JSON, in HTML, in base64, in
    words."""
    plain = {secret, secret.removeprefix("Bearer ")}
    texts = set(plain)
    for one in plain:
        texts |= {urllib.parse.quote(one), urllib.parse.quote(one, safe="")}
        texts |= {urllib.parse.quote_plus(one), html.escape(one)}
        texts |= {json.dumps(one)[1:-1], repr(one)[1:-1], one[::-1]}
    if secret.isdigit():
        texts |= {" ".join(secret), " ".join(_WORDS[int(digit)] for digit in secret)}
    found = {text.encode() for text in texts}
    for one in plain:
        found |= set(_in_base64(one.encode()))
        found.add(one.encode().hex().encode())
    return frozenset(found)


def _in_base64(secret: bytes) -> Iterable[bytes]:
    """Yield the base64 letters that depend on the secret alone, for each offset in a longer
    text."""
    for before in range(3):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            whole = encode(b"\0" * before + secret)
            yield whole[-(-before * 8 // 6) : (before + len(secret)) * 8 // 6]


def leaks(texts: Iterable[tuple[str, bytes]]) -> list[str]:
    """Return which secret leaked in which text."""
    known = {name: forms(secret) for name, secret in SECRETS.items()}
    return [
        f"{name} in {where}: …{_around(text, form)}…"
        for where, text in texts
        for name, ways in known.items()
        for form in sorted(ways)
        if form in text
    ]


def _around(text: bytes, form: bytes) -> str:
    at = text.index(form)
    return text[max(0, at - 80) : at + len(form) + 20].decode(errors="replace")


def files(folder: Path, besides: Iterable[str] = ()) -> list[tuple[str, bytes]]:
    """Return every file of a folder except those that hold secrets by design."""
    return [
        (str(path.relative_to(folder)), path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in besides
    ]


def toml(value: object) -> str:
    """Return a value as TOML; JSON's texts, numbers and lists are TOML too."""
    text = json.dumps(value, ensure_ascii=False)
    assert tomllib.loads(f"v = {text}")["v"] == value
    return text
