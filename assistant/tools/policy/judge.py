"""The judgement of calls before they are sent: check their arguments, and decide whether they are
allowed."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from assistant.domain.tool_call import Decision, PolicyContext, Program, SentenceMatch
from assistant.tools.catalog.arguments import fit, in_own_degrees
from assistant.tools.catalog.menu import Menu, MenuEntry
from assistant.tools.house.names import spoken_things
from assistant.tools.policy.corrections import MendedArgument
from assistant.tools.policy.engine import judge, judge_sentence
from assistant.tools.policy.fields import Taken, check_fields
from assistant.tools.policy.rules import STRICT, PolicyDecision, Ruling, Rulings
from assistant.tools.policy.targeting import script_behind
from integrations.errors import IntegrationError

if TYPE_CHECKING:
    from integrations.home_assistant.client import HomeAssistant


_log = logging.getLogger(__name__)
READ_S = 4.0  # longest wait for Home Assistant to report effects of scripts, scenes etc.
_MOST_READS = 8  # levels of scripts that call scripts
_TEMPERATURE = "HassClimateSetTemperature"
AskScripts = Callable[[], Awaitable[Mapping[str, Taken]]]  # raises IntegrationError


@dataclass(frozen=True, slots=True)
class Misfit:
    arguments: dict[str, Any]
    problem: str  # one phrase for the model
    options: tuple[str, ...] = ()  # similar valid values, nearest first


_Judged = TypeVar("_Judged", PolicyDecision, PolicyDecision | Misfit)


class Judge:
    """Judges calls without running them, based on the current house, room and rulings."""

    def __init__(
        self,
        home: "HomeAssistant",
        area: str = "",
        rulings: Rulings = STRICT,
        ask_scripts: AskScripts | None = None,
        moment: Callable[[], PolicyContext] = PolicyContext,
    ) -> None:
        """`area` is this device's room, and `rulings` are from the settings. `ask_scripts` fetches
        the fields of the home's scripts. `moment` returns the mode, time of day and ratings that
        apply to a call."""
        self._home = home
        self._area = area
        self._rulings = rulings
        self._ask_scripts = ask_scripts
        self._moment = moment
        self._scripts: Mapping[str, Taken] = {}
        self._known_for: Menu | None = None  # the menu whose scripts are known

    async def learn(self, menu: Menu) -> None:
        """Fetch the script fields for a new menu. If this fails, calls are checked only against
        their schemas."""
        if menu is self._known_for or self._ask_scripts is None:
            return
        if any(self._is_script(entry) for entry in menu.offered()):
            try:
                self._scripts = await self._ask_scripts()
            except IntegrationError as error:
                _log.info("The fields of scripts cannot be read: %s", error)
                return
        self._known_for = menu

    async def read_up(self, judged: Callable[[], _Judged]) -> _Judged:
        """Return the result of `judged`, after waiting for effects that aren't known yet.

        Just after a start or a change, Home Assistant may not have reported the effects of scripts,
        automations and scenes yet. Effects that aren't reported within READ_S count as unknown.
        """
        verdict = judged()
        try:
            async with asyncio.timeout(READ_S):
                for _ in range(_MOST_READS):
                    unread = verdict.unread if isinstance(verdict, PolicyDecision) else ()
                    if not unread or not await self._is_told(frozenset(unread)):
                        break
                    verdict = judged()
        except TimeoutError:
            _log.info("Home Assistant did not report the effects of an entity in time.")
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
        """Decide about a call.

        `heard` is what the person said. `program` is the program that makes the call in place of a
        person. `tainted` is True if external text may have prompted the call.
        """
        house = self._home.house
        if entry.of_home and entry.suffix == _TEMPERATURE:
            arguments = in_own_degrees(arguments, house.settings)
        fitted = fit(entry.tool.input_schema, arguments, entry.declaration.renamed)
        if fitted.problem:
            return Misfit(fitted.arguments, fitted.problem, fitted.options)
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
        """Decide about a sentence for Home Assistant's conversation engine."""
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
        """Deny a temperature outside the thermostat's range, which Home Assistant would silently
        ignore."""
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
                values = {
                    "names": spoken_things([climate.names]),
                    "low": f"{low:g}",
                    "high": f"{high:g}",
                }
                return _correction(verdict, "range", values)
        return verdict

    def _whole(self, verdict: PolicyDecision) -> PolicyDecision:
        """Deny a call that starts a script without its required fields. Home Assistant would report
        success although the script fails."""
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
        return script_behind(entry, self._home.house) is not None


def _correction(verdict: PolicyDecision, rule: str, values: Mapping[str, str]) -> PolicyDecision:
    """Return a denial that can't be overridden by a confirmation."""
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
    """Convert a misfit to a verdict, for display."""
    return PolicyDecision(
        Decision.DENIED,
        entry.tier,
        "bad_argument",
        misfit.arguments,
        key="tools.bad_argument",
        values={"problem": misfit.problem},
        options=misfit.options,
    )
