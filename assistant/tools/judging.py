"""What is decided about a call before anything is sent: whether it fits, and whether it may run."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from assistant.domain.call import SentenceMatch
from assistant.domain.outcome import Decision
from assistant.domain.policy_context import PolicyContext
from assistant.domain.rights import Program
from assistant.tools.arguments import fit
from assistant.tools.mend import MendedArgument
from assistant.tools.menu import Menu, MenuEntry
from assistant.tools.policy import judge, judge_sentence
from assistant.tools.rules import STRICT, PolicyDecision, Ruling, Rulings
from assistant.tools.scripts import Taken, check_fields, is_script_tool
from assistant.tools.verify import LivePicture
from integrations.errors import IntegrationError

_log = logging.getLogger(__name__)

READ_S = 4.0  # how long a call waits for Home Assistant to tell what the things at hand do
_MOST_READS = 8  # scripts that call scripts, one after the other

_TEMPERATURE = "HassClimateSetTemperature"
AskScripts = Callable[[], Awaitable[Mapping[str, Taken]]]  # raises IntegrationError


@dataclass(frozen=True, slots=True)
class Misfit:
    """Arguments that the tool does not take."""

    arguments: dict[str, Any]
    problem: str  # one phrase for the model
    options: tuple[str, ...] = ()  # what would be right instead, the nearest first


_Judged = TypeVar("_Judged", PolicyDecision, PolicyDecision | Misfit)


class Judge:
    """Knows the house, the room and the rulings; decides, and runs nothing."""

    def __init__(
        self,
        home: LivePicture,
        area: str = "",
        rulings: Rulings = STRICT,
        ask_scripts: AskScripts | None = None,
        moment: Callable[[], PolicyContext] = PolicyContext,
    ) -> None:
        """`area`: the room that this box stands in; `rulings`: those of the settings;
        `ask_scripts`: what the home's scripts take (`scripts.ask_scripts`); `moment`: what holds
        as a call comes: mode, time of day, ratings."""
        self._home = home
        self._area = area
        self._rulings = rulings
        self._ask_scripts = ask_scripts
        self._moment = moment
        self._scripts: Mapping[str, Taken] = {}
        self._known_for: Menu | None = None  # the menu for which the scripts were asked about

    async def learn(self, menu: Menu) -> None:
        """Ask what the scripts of a new menu take; where nobody answers the schemas must do."""
        if menu is self._known_for or self._ask_scripts is None:
            return
        if any(self._is_script(entry) for entry in menu.offered()):
            try:
                self._scripts = await self._ask_scripts()
            except IntegrationError as error:
                _log.info("The fields of scripts are not known: %s", error)
                return
        self._known_for = menu

    async def read_up(self, judged: Callable[[], _Judged]) -> _Judged:
        """The verdict of `judged`, once Home Assistant has told what the scripts, automations and
        scenes at hand do: just after the start or a change it may not have. Nothing is waited for
        where the call touches none of them; after READ_S the verdict is that of what is unknown."""
        verdict = judged()
        try:
            async with asyncio.timeout(READ_S):
                for _ in range(_MOST_READS):
                    unread = verdict.unread if isinstance(verdict, PolicyDecision) else ()
                    if not unread or not await self._is_told(frozenset(unread)):
                        break
                    verdict = judged()
        except TimeoutError:
            _log.info("Home Assistant has not told in time what something does.")
        return verdict

    async def _is_told(self, item_ids: frozenset[str]) -> bool:
        return await self._home.wait_for(
            item_ids, lambda house: house.unread.isdisjoint(item_ids), READ_S
        )

    def call(
        self,
        entry: MenuEntry,
        arguments: Mapping[str, Any],
        heard: str | None,
        program: Program | None = None,
        tainted: bool = False,
    ) -> PolicyDecision | Misfit:
        """Decide about one call. `heard`: the person's own words; `program`: that asks instead;
        `tainted`: text from outside may stand behind it."""
        fitted = fit(entry.tool.input_schema, arguments, entry.declaration.renamed)
        if fitted.problem:
            return Misfit(fitted.arguments, fitted.problem, fitted.options)
        house = self._home.house
        mended: tuple[MendedArgument, ...] = ()
        given: Mapping[str, Any] = fitted.arguments
        if self._is_script(entry):
            taken = self._scripts.get(entry.suffix, Taken())
            fields = check_fields(taken.selectors, given, house)
            if fields.problem:
                return Misfit(dict(fields.arguments), fields.problem, fields.options)
            given, mended = fields.arguments, fields.changes
        verdict = judge(
            entry,
            given,
            house,
            heard,
            self._area,
            live=self._home.connected,
            rulings=self._rulings,
            moment=self._moment().asked_by(program, tainted),
        )
        verdict = replace(verdict, mended=(*mended, *verdict.mended))
        if self._is_script(entry):
            return verdict
        return self._whole(self._within(entry.suffix, verdict.arguments, verdict))

    def sentence(
        self,
        match: SentenceMatch,
        heard: str | None,
        program: Program | None = None,
        tainted: bool = False,
    ) -> PolicyDecision:
        """Decide about a sentence for the home's own engine."""
        home = self._home
        verdict = judge_sentence(
            match,
            home.house,
            heard,
            self._area,
            live=home.connected,
            rulings=self._rulings,
            moment=self._moment().asked_by(program, tainted),
        )
        return self._whole(self._within(match.intent, match.slots, verdict))

    def _within(
        self, suffix: str, arguments: Mapping[str, Any], verdict: PolicyDecision
    ) -> PolicyDecision:
        """Degrees beyond what a thermostat takes: Home Assistant's answer would not say so."""
        wanted = arguments.get("temperature")
        if suffix != _TEMPERATURE or not isinstance(wanted, int | float):
            return verdict
        for entity_id in verdict.entities:
            climate = self._home.house.entities.get(entity_id)
            low, high = (
                climate.attributes.get(key) if climate is not None else None
                for key in ("min_temp", "max_temp")
            )
            if not (isinstance(low, int | float) and isinstance(high, int | float)):
                continue
            if climate is not None and not low <= wanted <= high:
                values = {"names": climate.name, "low": f"{low:g}", "high": f"{high:g}"}
                return _correction(verdict, "range", values)
        return verdict

    def _whole(self, verdict: PolicyDecision) -> PolicyDecision:
        """No script is started by its name alone that must be told more: it would fail, and Home
        Assistant would say yes."""
        house = self._home.house
        for entity_id in verdict.entities:
            taken = self._scripts.get(entity_id.removeprefix("script."))
            script = house.entities.get(entity_id)
            if taken is None or script is None or not taken.required:
                continue
            values = {
                "names": script.name,
                "fields": ", ".join(name.replace("_", " ") for name in taken.required),
            }
            return _correction(verdict, "fields", values)
        return verdict

    def _is_script(self, entry: MenuEntry) -> bool:
        return entry.of_home and is_script_tool(entry, self._home.house)


def _correction(verdict: PolicyDecision, rule: str, values: Mapping[str, str]) -> PolicyDecision:
    """It cannot be so, whatever anybody says to it."""
    return replace(
        verdict,
        decision=Decision.DENIED,
        rule=rule,
        key=f"policy.{rule}",
        values=values,
        ruling=Ruling.DENY,
        ask="",
        left="",
    )


def refused(misfit: Misfit, entry: MenuEntry) -> PolicyDecision:
    """A misfit as a verdict, for those who only look."""
    return PolicyDecision(
        Decision.DENIED,
        entry.tier,
        "bad_argument",
        misfit.arguments,
        key="tools.bad_argument",
        values={"problem": misfit.problem},
        options=misfit.options,
    )
