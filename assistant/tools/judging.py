"""What is decided about a call before anything is sent: whether it fits, and whether it may run."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from assistant.tools.arguments import fit
from assistant.tools.call import SentenceMatch
from assistant.tools.mend import Change
from assistant.tools.menu import Menu, MenuEntry
from assistant.tools.outcome import Decision
from assistant.tools.policy import is_script_tool, judge, judge_sentence
from assistant.tools.scripts import Selectors, check_fields
from assistant.tools.verdict import STRICT, Rulings, Verdict
from assistant.tools.verify import LivePicture
from integrations.errors import IntegrationError

_log = logging.getLogger(__name__)

AskSelectors = Callable[[], Awaitable[Mapping[str, Selectors]]]  # raises IntegrationError


@dataclass(frozen=True, slots=True)
class Misfit:
    """Arguments that the tool does not take."""

    arguments: dict[str, Any]
    problem: str  # one phrase for the model
    options: tuple[str, ...] = ()  # what would be right instead, the nearest first


class Judge:
    """Knows the house, the room and the rulings; decides, and runs nothing."""

    def __init__(
        self,
        home: LivePicture,
        area: str = "",
        rulings: Rulings = STRICT,
        ask_selectors: AskSelectors | None = None,
    ) -> None:
        """`area`: the room that this box stands in; `rulings`: those of the settings;
        `ask_selectors`: what the fields of the home's scripts take (`scripts.ask_selectors`)."""
        self._home = home
        self._area = area
        self._rulings = rulings
        self._ask_selectors = ask_selectors
        self._selectors: Mapping[str, Selectors] = {}
        self._known_for: Menu | None = None  # the menu for which the selectors were asked

    async def learn(self, menu: Menu) -> None:
        """Ask what the scripts of a new menu take; where nobody answers the schemas must do."""
        if menu is self._known_for or self._ask_selectors is None:
            return
        if any(self._is_script(entry) for entry in menu.offered()):
            try:
                self._selectors = await self._ask_selectors()
            except IntegrationError as error:
                _log.info("The fields of scripts are not known: %s", error)
                return
        self._known_for = menu

    def call(
        self, entry: MenuEntry, arguments: Mapping[str, Any], heard: str | None
    ) -> Verdict | Misfit:
        """Decide about one call. `heard`: the person's own words."""
        fitted = fit(entry.tool.input_schema, arguments, entry.declaration.renamed)
        if fitted.problem:
            return Misfit(fitted.arguments, fitted.problem, fitted.options)
        house = self._home.house
        mended: tuple[Change, ...] = ()
        given: Mapping[str, Any] = fitted.arguments
        if self._is_script(entry):
            fields = check_fields(self._selectors.get(entry.suffix, {}), given, house)
            if fields.problem:
                return Misfit(dict(fields.arguments), fields.problem, fields.options)
            given, mended = fields.arguments, fields.changes
        live, rulings = self._home.connected, self._rulings
        verdict = judge(entry, given, house, heard, self._area, live=live, rulings=rulings)
        return replace(verdict, mended=(*mended, *verdict.mended))

    def sentence(self, match: SentenceMatch, heard: str | None) -> Verdict:
        """Decide about a sentence for the home's own engine."""
        home = self._home
        return judge_sentence(
            match, home.house, heard, self._area, live=home.connected, rulings=self._rulings
        )

    def _is_script(self, entry: MenuEntry) -> bool:
        return entry.of_home and is_script_tool(entry, self._home.house)


def refused(misfit: Misfit, entry: MenuEntry) -> Verdict:
    """A misfit as a verdict, for those who only look."""
    return Verdict(
        Decision.DENIED,
        entry.tier,
        "bad_argument",
        misfit.arguments,
        key="tools.bad_argument",
        values={"problem": misfit.problem},
        options=misfit.options,
    )
