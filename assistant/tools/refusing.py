"""What a model is told of a call that is not run: why, and what would be right instead."""

from functools import partial
from typing import Any

from assistant.domain.outcome import Tier, ToolOutcome
from assistant.tools.books import Books
from assistant.tools.counting import Counting
from assistant.tools.intents import INTENTS, suffix
from assistant.tools.judging import Misfit
from assistant.tools.menu import Menu, MenuEntry
from assistant.tools.nearest import nearest, nearest_in_house
from assistant.tools.request import Refusal, Request, way_of
from assistant.tools.rules import PolicyDecision
from assistant.tools.verify import LivePicture


class Refusing:
    """Words refusals. Each counts as a call: a model that loops meets the limits."""

    def __init__(self, books: Books, counting: Counting, home: LivePicture) -> None:
        self._books = books
        self._counting = counting
        self._home = home

    async def refuse(self, request: Request, refusal: Refusal) -> ToolOutcome:
        """Not run, for this."""
        refuse = partial(self._books.refuse, request, refusal)
        return await self._counting.within_limits(request, Tier.READ, refuse)

    async def unknown(self, request: Request, menu: Menu) -> ToolOutcome:
        """A tool that there is not; or it is the home's, and the home is away."""
        call, sentences = request.call, request.sentences
        if menu.held(call.name) is not None:
            waits = sentences.say("tools.held", name=call.name)
            return await self.refuse(request, Refusal(None, dict(call.arguments), waits))
        near = nearest(call.name, [offered.declaration.name for offered in menu.offered()])
        away = not near and not self._home.connected and suffix(call.name) in INTENTS
        sentence = (
            sentences.say("tools.unreachable")
            if away
            else sentences.with_options("tools.unknown", near, name=call.name)
        )
        rule = "unreachable" if away else "unknown_tool"
        refusal = Refusal(
            None, dict(call.arguments), sentence, retryable=away, options=near, rule=rule
        )
        return await self.refuse(request, refusal)

    async def left_out(self, request: Request, arguments: dict[str, Any]) -> ToolOutcome:
        """A tool that the turn's profile leaves out."""
        said = request.sentences.say("tools.left_out")
        return await self.refuse(request, Refusal(None, arguments, said, rule="profile"))

    async def misfit(self, request: Request, entry: MenuEntry, misfit: Misfit) -> ToolOutcome:
        """A correction for the model."""
        unsaid = [option for option in misfit.options if option not in misfit.problem]
        sentence = request.sentences.with_options(
            "tools.bad_argument", unsaid, problem=misfit.problem
        )
        refusal = Refusal(
            way_of(entry),
            misfit.arguments,
            sentence,
            retryable=True,
            options=misfit.options,
            rule="bad_argument",
        )
        return await self.refuse(request, refusal)

    async def denied(
        self, request: Request, entry: MenuEntry, verdict: PolicyDecision
    ) -> ToolOutcome:
        """What the policy does not let through, and what may have been meant instead."""
        meant = verdict.options
        if verdict.rule == "unseen" and not meant:
            meant = tuple(nearest_in_house(verdict.arguments, self._home.house))
        said = request.sentences.say(verdict.key, **verdict.values)
        unsaid = [option for option in meant if option not in said]
        sentence = request.sentences.with_options(verdict.key, unsaid, **verdict.values)
        arguments = dict(verdict.arguments)
        refusal = Refusal(way_of(entry), arguments, sentence, verdict, options=meant)
        return await self.refuse(request, refusal)
