"""Tests of the QR codes of links."""

import pytest

from integrations.qr import in_blocks, modules

LINK = "https://hearth.home:8765/#code=p1ZtQk3nDLxv8rJ0aUuWw5Yg2sTTeR9c"
FINDER = ("1111111", "1000001", "1011101", "1011101", "1011101", "1000001", "1111111")


def test_a_code_has_its_marks_and_its_quiet_zone() -> None:
    rows = modules(LINK)
    assert {len(row) for row in rows} == {len(rows)}
    quiet = [*rows[:4], *rows[-4:], *(row[:4] + row[-4:] for row in rows)]
    assert not any("1" in one for one in quiet)
    inner = [row[4:-4] for row in rows[4:-4]]
    corners = (
        [row[:7] for row in inner[:7]],
        [row[-7:] for row in inner[:7]],
        [row[:7] for row in inner[-7:]],
    )
    assert all(tuple(corner) == FINDER for corner in corners)


@pytest.mark.parametrize("address", [LINK, "http://127.0.0.1:8765/#code=a", f"{LINK}{'x' * 400}"])
def test_the_terminal_shows_the_same_code(address: str) -> None:
    """In a terminal, a block is light, and each character is two modules high."""
    shown: list[str] = []
    for line in in_blocks(address).splitlines():
        upper = "".join("0" if sign in "█▀" else "1" for sign in line)
        lower = "".join("0" if sign in "█▄" else "1" for sign in line)
        shown += [upper, lower]
    rows = modules(address)
    assert shown[: len(rows)] == list(rows)
