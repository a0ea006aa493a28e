"""Tests that no secret of the settings is logged, by any library and in any text."""

import logging
import sys

import pytest

from assistant.cli.main import _log_fault, _log_to_stderr
from assistant.config.masked_log import RecentLog, StarredFormatter, recent_log, secrets_in
from assistant.config.schema import Settings

TOKEN = "c4nary 'house' token"
SETTINGS = Settings.model_validate(
    {
        "home_assistant": {"token": TOKEN},
        "policy": {"pin": "2026"},
        "mcp": {
            "servers": [
                {
                    "name": "far",
                    "transport": "http",
                    "url": "http://127.0.0.1:9/mcp",
                    "headers": {"Authorization": "Bearer c4nary-far-away"},
                }
            ]
        },
    }
)


def _logged(message: str, *arguments: object, error: Exception | None = None) -> str:
    formatter = StarredFormatter("%(asctime)s %(message)s")
    formatter.hide(SETTINGS)
    info = None
    if error is not None:
        try:
            raise error
        except type(error):
            info = sys.exc_info()
    record = logging.LogRecord("x", logging.DEBUG, "", 1, message, arguments, info)
    return formatter.format(record)


@pytest.mark.parametrize(
    ("message", "arguments"),
    [
        (f"token {TOKEN}", ()),
        ("token %s", (TOKEN,)),
        ("sent %r", ({"token": TOKEN},)),
        ("headers %s", ({"authorization": "Bearer c4nary-far-away"},)),
        ("key c4nary-far-away.", ()),
    ],
)
def test_a_secret_is_starred(message: str, arguments: tuple[object, ...]) -> None:
    text = _logged(message, *arguments)
    assert "c4nary" not in text
    assert "***" in text


def test_a_traceback_is_starred_too() -> None:
    text = _logged("it failed", error=ValueError(f"with {TOKEN}"))
    assert "ValueError: with ***" in text


def test_the_rest_is_as_it_was() -> None:
    assert _logged("since %d of the house", 2026).endswith(" since 2026 of the house")


def test_all_secrets_are_found_wherever_they_are() -> None:
    assert {TOKEN, "2026", "Bearer c4nary-far-away", "c4nary-far-away"} <= set(secrets_in(SETTINGS))


EVIL = "x\x1b[2J\r\nhearth: forged\u202e\u2066\u200b\u2028\x9b\x00\U000e0041"
SPELLED = r"x\x1b[2J\r\nhearth: forged\u202e\u2066\u200b\u2028\x9b\x00\U000e0041"


def test_a_record_is_one_line_whatever_it_quotes() -> None:
    assert _logged("%s is gone", EVIL).endswith(f" {SPELLED} is gone")
    assert _logged(f"{EVIL} is gone").endswith(f" {SPELLED} is gone")
    assert _logged("Küche 🙂 ❤️ \\n").endswith(" Küche 🙂 ❤️ \\n")


def test_what_a_layout_takes_from_extra_is_escaped_too() -> None:
    formatter = StarredFormatter("%(message)s %(room)s")
    record = logging.makeLogRecord({"msg": "in", "room": EVIL})
    assert formatter.format(record) == f"in {SPELLED}"


def _raised(error: Exception, cause: Exception | None = None) -> Exception:
    try:
        raise error from cause
    except type(error) as raised:
        return raised


def _told(error: BaseException) -> list[str]:
    record = logging.makeLogRecord(
        {"msg": "it failed", "exc_info": (type(error), error, error.__traceback__)}
    )
    record.exc_text = EVIL  # as another handler may have left it
    return StarredFormatter("%(message)s").format(record).split("\n")


def test_an_exceptions_words_are_one_line_of_the_traceback() -> None:
    lines = _told(_raised(ValueError(EVIL)))
    assert lines[:2] == ["it failed", "Traceback (most recent call last):"]
    assert lines[-1] == f"ValueError: {SPELLED}"
    assert not any(line.startswith("hearth: forged") for line in lines)


def test_causes_contexts_notes_and_groups_are_told_and_escaped() -> None:
    cause = _raised(KeyError(1))
    error = ValueError(EVIL)
    error.add_note(EVIL)
    lines = _told(_raised(error, cause))
    direct = "The above exception was the direct cause of the following exception:"
    assert lines.index("KeyError: 1") < lines.index(direct) < lines.index(f"ValueError: {SPELLED}")
    assert lines[-1] == SPELLED
    meant = OSError(EVIL)
    meant.__context__ = cause
    during = "During handling of the above exception, another exception occurred:"
    lines = _told(meant)
    assert during in lines
    assert lines[-1] == f"OSError: {SPELLED}"
    group = _raised(ExceptionGroup(EVIL, [ValueError(EVIL), _raised(meant, None)]))
    lines = _told(group)
    assert f"  | ValueError: {SPELLED}" in lines
    assert f"ExceptionGroup: {SPELLED} (2 sub-exceptions)" in lines
    assert during not in lines  # `from None`
    loop = ValueError("round")
    loop.__context__ = loop
    assert _told(loop) == ["it failed", "ValueError: round"]


def test_an_exception_without_words_is_told() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert _told(Mute())[-1].endswith("Mute: <no words>")
    assert _told(TimeoutError()) == ["it failed", "TimeoutError"]


def test_a_stack_keeps_its_lines() -> None:
    record = logging.makeLogRecord({"msg": "here", "stack_info": f"Stack:\n  {EVIL[:5]}"})
    lines = StarredFormatter("%(message)s").format(record).split("\n")
    assert lines == ["here", "Stack:", r"  x\x1b[2J"]


def test_what_nobody_caught_is_logged_by_the_same_formatter(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _log_to_stderr(False)
    error = _raised(RuntimeError(EVIL))
    _log_fault(type(error), error, error.__traceback__)
    written = capsys.readouterr().err
    assert written.startswith("hearth: Hearth stopped with an internal error\nTraceback")
    assert written.endswith(f"RuntimeError: {SPELLED}\n")


def test_the_newest_lines_are_kept_with_secrets_masked() -> None:
    kept = RecentLog()
    assert isinstance(kept.formatter, StarredFormatter)
    kept.formatter.hide(SETTINGS)
    logger = logging.Logger("sound")
    logger.addHandler(kept)
    logger.warning("the token %s was refused", TOKEN)
    for number in range(600):
        logger.info("line %d\nand another", number)
    lines = kept.lines
    assert len(lines) == 500
    assert (lines[0].level, lines[0].source) == ("INFO", "sound")
    assert lines[0].text == r"line 599\nand another"
    logger.warning("the token %s was refused", TOKEN)
    assert kept.lines[0].text == "the token *** was refused"


def test_there_is_one_recent_log() -> None:
    try:
        assert recent_log() is recent_log()
        assert logging.getLogger().handlers.count(recent_log()) == 1
    finally:
        logging.getLogger().removeHandler(recent_log())


def test_a_secret_is_starred_however_it_is_spelled() -> None:
    formatter = StarredFormatter("%(message)s")
    secret = "c4nary\u200bwell-hidden"
    formatter.hide(Settings.model_validate({"http": {"token": secret}}))
    record = logging.makeLogRecord({"msg": f"with {secret}"})
    assert formatter.format(record) == "with ***"
