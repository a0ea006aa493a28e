"""API paths for what the household sets up and looks after: its own sentences, the log and
backups."""

from collections.abc import Sequence
from typing import Literal

from starlette.responses import Response

from integrations.web.box import Box
from integrations.web.paths import GONE, STORE, Call, Path
from integrations.web.replies import HttpReply
from integrations.web.requests import SentenceRequest

_ZIP = "application/zip"


class SentenceReply(HttpReply):
    """A sentence or a name of the household's own, and what it means."""

    id: str
    said: str
    means: str
    kind: Literal["sentence", "name"]


class SentencesReply(HttpReply):
    """The household's own sentences, and the names that one of them can stand for."""

    sentences: list[SentenceReply]
    names: list[str]


class LogReply(HttpReply):
    """A line of the log."""

    at: str  # ISO 8601
    level: Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]
    source: str
    text: str


def household_paths(box: Box) -> Sequence[Path]:
    async def backup(call: Call) -> Response:
        headers = {"Content-Disposition": 'attachment; filename="hearth.zip"'}
        return Response(await box.backup(call.caller), headers=headers, media_type=_ZIP)

    return (
        Path(
            *("GET", "/v1/backup", "admin", "Get a backup of Hearth, without secrets."),
            *(backup, 200, bytes, _ZIP),
            problems=STORE,
        ),
        Path(
            *("GET", "/v1/log", "admin", "Get the newest lines of Hearth's log, newest first."),
            *(lambda _: box.log(), 200, list[LogReply]),
        ),
        Path(
            *("GET", "/v1/sentences", "read", "List the household's own sentences."),
            *(lambda _: box.sentences(), 200, SentencesReply),
            problems=STORE,
        ),
        Path(
            *("POST", "/v1/sentences", "admin", "Say what the household means by a sentence."),
            *(lambda call: box.add_sentence(call.wanted, call.caller), 201, SentenceReply),
            body=SentenceRequest,
            problems=STORE,
        ),
        Path(
            *("DELETE", "/v1/sentences/{id}", "admin", "Delete a sentence of the household's own."),
            *(lambda call: box.remove_sentence(call.name, call.caller), 204),
            problems={**GONE, **STORE},
        ),
    )
