"""QR codes of addresses, which a phone opens with its camera."""

from collections.abc import Sequence
from io import StringIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from segno import QRCode

_BORDER = 4  # modules of quiet zone, as ISO 18004 requires


def modules(address: str) -> Sequence[str]:
    """Return the rows of the code with its quiet zone, in which "1" is dark and "0" is light."""
    rows = _code(address).matrix_iter(border=_BORDER)
    return ["".join("1" if module else "0" for module in row) for row in rows]


def in_blocks(address: str) -> str:
    """Return the code in block characters, whose foreground is light and whose background is
    dark."""
    text = StringIO()
    _code(address).terminal(out=text, border=_BORDER, compact=True)
    return text.getvalue()


def _code(address: str) -> "QRCode":
    import segno  # imported late, because few need it

    return segno.make_qr(address, error="m")
