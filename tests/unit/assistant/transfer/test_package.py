"""The file of an export, and what is no such file."""

import io
import json
import zipfile
from datetime import UTC, datetime

import pytest

from assistant.config.errors import ConfigError
from assistant.transfer.contents import MEMORY, SETTINGS, VERSION, pack, unpack

NOW = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)
PARTS = {SETTINGS: b"# ours\n", MEMORY: b"[]"}


def test_it_comes_out_as_it_went_in() -> None:
    package = unpack(pack(PARTS, "0.1.0", NOW), "x.zip")
    assert dict(package.parts) == PARTS
    assert (package.hearth, package.made) == ("0.1.0", NOW)


def remade(change: dict[str, object], parts: dict[str, bytes] | None = None) -> bytes:
    """An export whose manifest says something else, or whose parts are others."""
    with zipfile.ZipFile(io.BytesIO(pack(PARTS, "0.1.0", NOW))) as file:
        manifest = json.loads(file.read("manifest.json")) | change
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as file:
        file.writestr("manifest.json", json.dumps(manifest))
        for name, part in (PARTS if parts is None else parts).items():
            file.writestr(name, part)
    return whole.getvalue()


def spoiled(kind: int) -> bytes:
    """A manifest whose packed bytes are no longer any."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", kind) as file:
        file.writestr("manifest.json", json.dumps({"made": "x" * 500}))
    data, start = bytearray(whole.getvalue()), 30 + len("manifest.json")
    data[start + 9 : start + 19] = b"\xff" * 10
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "no export of Hearth"),
        (b"PK\x03\x04 half a zip", "no export of Hearth"),
        (remade({"format": "other"}), "no export of Hearth"),
        (remade({"version": VERSION + 1}), "made by a later Hearth"),
        (remade({"parts": {"../../etc/passwd": "0" * 64}}), "does not know"),
        (remade({}, {SETTINGS: b"# theirs\n", MEMORY: b"[]"}), r"damaged \(settings.toml\)"),
        (remade({}, {SETTINGS: PARTS[SETTINGS]}), "damaged"),
        (remade({}, {SETTINGS: bytes(17 * 1024 * 1024), MEMORY: b"[]"}), "damaged"),
        (pack(PARTS, "0.1.0", NOW)[:-40], "no export of Hearth"),
        (spoiled(zipfile.ZIP_DEFLATED), "no export of Hearth"),
        (spoiled(zipfile.ZIP_LZMA), "no export of Hearth"),
        (spoiled(zipfile.ZIP_BZIP2), "no export of Hearth"),
    ],
)
def test_what_cannot_be_taken_up_is_told_in_a_sentence(data: bytes, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        unpack(data, "x.zip")
