"""What programs have the box say, ask and do."""

from collections.abc import Sequence

from starlette.responses import JSONResponse, Response

from integrations.web.box import Box
from integrations.web.leaving import while_waited_for
from integrations.web.paths import Call, Path
from integrations.web.replies import NamedReply, QuestionReply, TurnReply
from integrations.web.requests import (
    AnnounceRequest,
    AskRequest,
    ConverseRequest,
    QuestionRequest,
)

_NOT_SAID = {503: "It is not said: too much waits already, or its sound is not to be had now."}
_NOT_BEGUN = {503: "It is not begun: too much waits already."}


class Speaking:
    """Announcements, questions, conversations and typed turns."""

    def __init__(self, box: Box) -> None:
        self._box = box

    def paths(self) -> Sequence[Path]:
        """Their rows of the table."""
        return (
            Path(
                *("POST", "/v1/announce", "speak", "Say a text, or play a sound, once it rests."),
                *(self._announce, 202, NamedReply),
                body=AnnounceRequest,
                problems={**_NOT_SAID, 507: "It is not said, since it cannot be kept."},
            ),
            Path(
                *("POST", "/v1/question", "speak", "Ask whoever is in the room, and wait."),
                *(self._question, 200, QuestionReply),
                body=QuestionRequest,
            ),
            Path(
                *("POST", "/v1/converse", "speak", "Say an opening line, then listen."),
                *(self._converse, 202, NamedReply),
                body=ConverseRequest,
                problems=_NOT_BEGUN,
            ),
            Path(
                *("POST", "/v1/ask", "ask", "One typed turn, whose answer is not spoken."),
                *(self._ask, 200, TurnReply),
                body=AskRequest,
                problems={409: "Somebody else is being served."},
            ),
        )

    async def _announce(self, call: Call) -> Response:
        wanted: AnnounceRequest = call.wanted
        return _taken(await self._box.announce(wanted, call.caller))

    async def _question(self, call: Call) -> Response:
        wanted: QuestionRequest = call.wanted
        # A question whose answer nobody takes any more is not asked on.
        asking = self._box.question(wanted, call.caller)
        answer = await while_waited_for(call.request, asking)
        return JSONResponse(answer.model_dump(mode="json"))

    async def _converse(self, call: Call) -> Response:
        wanted: ConverseRequest = call.wanted
        return _taken(await self._box.converse(wanted, call.caller))

    async def _ask(self, call: Call) -> Response:
        wanted: AskRequest = call.wanted
        return JSONResponse(dict(await self._box.ask(wanted, call.caller)))


def _taken(name: str) -> Response:
    return JSONResponse({"id": name}, status_code=202)
