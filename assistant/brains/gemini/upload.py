"""Brings one sentence to the model while the person still speaks it."""

import logging
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import replace

from assistant.brains.briefing import Briefing
from assistant.brains.gemini.keeper import Keeper
from assistant.brains.gemini.link import Link
from assistant.brains.gemini.ports import Briefer
from assistant.brains.gemini.reading import Item
from assistant.domain.brain import Reached, TurnRequest
from assistant.domain.turn_audio import TurnAudio
from integrations.errors import IntegrationError
from integrations.gemini.events import Closed
from integrations.gemini.models import ModelRow

_log = logging.getLogger(__name__)
PIECE_BYTES = 3_200  # 100 ms; Google's Live best practices advise pieces of 20 to 100 ms


class Upload:
    """The way of one sentence, from the briefing to the end of the activity.

    What happens is posted: milestones, the session's events, and Closed where it fails.
    """

    def __init__(
        self,
        request: TurnRequest,
        as_text: bool,
        keeper: Keeper,
        briefer: Briefer,
        row: ModelRow,
        post: Callable[[Item], None],
    ) -> None:
        """`as_text`: what an earlier attempt heard is sent instead of the sound."""
        self.link: Link | None = None
        self._request = request
        self._text = request.heard if as_text else request.text
        self._keeper = keeper
        self._briefer = briefer
        self._row = row
        self._post = post

    async def run(self) -> None:
        """Send everything. Never raises; cancel it to stop in the middle."""
        try:
            await self._run()
        except IntegrationError as error:
            self._post(Closed(error))
        except Exception:
            # The edge of a turn: what breaks in it must not take the brain down for the next one.
            _log.exception("a sentence could not be sent to Gemini")
            self._post(Closed(IntegrationError("The sentence could not be sent to Gemini.")))

    async def _run(self) -> None:
        request = self._request
        plain = await self._briefer.brief(request.profile, self._text or "", request.owner)
        briefing = self._with_note(plain, self._row)
        link = self.link = await self._keeper.acquire(briefing, self._post)
        self._post(Reached("connected"))
        await link.settle()
        if self._text is not None:
            with self._keeper.notes() as notes:
                told = (notes, self._request.note, self._text)
                await link.ask("\n".join(part for part in told if part))
        else:
            assert self._request.audio is not None  # a spoken turn has its sound
            await self._tell_notes(link)
            await self._speak(link, self._request.audio)
        self._post(Reached("upload_done"))

    def _with_note(self, briefing: Briefing, row: ModelRow) -> Briefing:
        """Where the model takes no text beside speech, its instruction tells it for this turn."""
        if not self._request.note or self._text is not None or row.client_content:
            return briefing
        told = f"{briefing.instruction}\n\n{self._request.note}"
        return replace(briefing, instruction=told)

    async def _tell_notes(self, link: Link) -> None:
        """Where the model takes no text beside speech, they wait for a typed turn."""
        if link.setup.row.client_content:
            with self._keeper.notes() as notes:
                told = "\n".join(part for part in (notes, self._request.note) if part)
                if told:
                    await link.tell(told)

    async def _speak(self, link: Link, audio: TurnAudio) -> None:
        """The sound from its mark on: what is there at once, the rest as it comes."""
        begun = False
        async with aclosing(audio.stream()) as sounds:
            async for sound in sounds:
                for start in range(0, len(sound), PIECE_BYTES):
                    if not begun:
                        await link.begin_activity()
                    await link.send_audio(sound[start : start + PIECE_BYTES])
                    if not begun:
                        self._post(Reached("first_upload"))
                    begun = True
        if not begun:
            raise IntegrationError("The turn ended without any sound.")
        await link.end_activity()
