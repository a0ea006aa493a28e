"""Text with everything that acts on a terminal, records that contain it, and checks of output."""

import re
import unicodedata
from datetime import UTC, datetime

import pytest

from assistant.domain.records import (
    AuditRecord,
    CallRecord,
    ConfirmationRecord,
    ErrorRecord,
    TurnRecord,
)
from assistant.domain.tool_call import Decision, Observed, Status, Tier, ToolOutcome

# Colours, the screen, the title, a link (OSC 8), a line of ours, directions, zero widths, further
# line ends, C1 and markup.
EVIL = (
    "x\x1b[31m\x1b[2J\x1b]0;t\x07\x1b]8;;http://evil.example\x1b\\l\r\nhearth: forged\u202eR\u2066I"
    "\u200e\u061c\u200b\u2060\ufeff\u2028\u2029\x85\x9b2J\x00\x7f\x08\U000e0041\u115f"
    "[bold]B[/bold][link=http://evil.example]L[/link][/]:smile:"
)
NOW = datetime(2026, 1, 1, tzinfo=UTC)
OURS = re.compile(r"\x1b\[[0-9;]*m|\x1b\[\?25[hl]")  # our colours, and the cursor off and on


def check(written: str, *, told: bool = True) -> None:
    """Raise AssertionError if something acts, or, if `told`, if no hostile text was written."""
    left = OURS.sub("", written)
    acting = {c for c in left if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs")} - {"\n"}
    assert not acting, (acting, left)
    assert "\u115f" not in left
    assert not any(line.startswith("hearth: forged") for line in left.split("\n"))
    # The name's red (31) would look like our own, so it must be written out.
    if told:
        assert "\\x1b[31m" in left or "\\u001b[31m" in left, left
        assert "]8;;http" in left
        # An answer's lines are joined; what a column cuts may end before.
        assert re.search(r"\\nhearth: f|\\r hearth: f|…", left), left
        assert "\U0001f604" not in left
        assert "[bold]B" in left or "…" in left  # a column may end before


def printed(capsys: pytest.CaptureFixture[str], *, told: bool = True) -> str:
    """Return what was written to both streams, after a check of it."""
    written = capsys.readouterr()
    check(written.out + written.err, told=told)
    return written.out + written.err


OUTCOME = ToolOutcome(
    "c1",
    "home_assistant",
    EVIL,
    {"name": EVIL},
    Decision.ALLOWED,
    Tier.COMFORT,
    Status.DONE,
    observed=(Observed(EVIL, EVIL, EVIL),),
    ms=1.0,
    sentence="",
)
TURN = TurnRecord(
    "t1",
    NOW,
    "voice",
    "en",
    brain="offline",
    heard=EVIL,
    answer=EVIL,
    cut_at=EVIL,
    timeline={"speech_start": 0.0, "speech_end": 900.0, "heard": 1000.0, "answer_done": 2000.0},
    cost_usd=0.01,
    error=ErrorRecord("failed", EVIL),
    confirmation=ConfirmationRecord(EVIL, EVIL, "yes"),
    caller=EVIL,
    model=EVIL,
)
AUDITED = AuditRecord(
    at=NOW,
    turn_id="t1",
    call_id="c1",
    server=EVIL,
    name=EVIL,
    arguments={EVIL: EVIL},
    tier=Tier.COMFORT,
    decision=Decision.ALLOWED,
    status=Status.DONE,
    rule="comfort",
    entities=(EVIL,),
    observed=(Observed(EVIL, EVIL, EVIL),),
    ms=1.0,
    confirmed_by=EVIL,
    heard=EVIL,
    sentence=EVIL,
    satellite=EVIL,
)
CALL = CallRecord(
    "t1",
    "c1",
    EVIL,
    EVIL,
    {"name": EVIL},
    Decision.ALLOWED,
    Tier.COMFORT,
    NOW,
    Status.DONE,
    (Observed(EVIL, EVIL, EVIL),),
    1.0,
)
