"""`hearth doctor --cloud`: tests what Hearth needs from Gemini, within a minute."""

import asyncio
import platform
import socket
import tempfile
from collections.abc import Awaitable, Sequence
from dataclasses import replace
from typing import Any

from assistant.app.brains import briefer_for
from assistant.app.home import HomeContext, open_home
from assistant.app.model_access import NO_CONSENT, access_of, may_use_cloud, open_models
from assistant.app.tools import open_background_work
from assistant.brains.gemini.brain import setup_of
from assistant.brains.gemini.model_chain import ModelChain
from assistant.brains.gemini.repair import SetupRepair
from assistant.brains.slots import start_of_day
from assistant.config.schema import Settings
from assistant.doctor import cloud_findings as judged
from assistant.doctor.cloud_findings import (
    CloudFindings,
    CloudReport,
    SetupFacts,
    Tell,
    TimedFinding,
)
from assistant.doctor.cloud_live import CloudConversation
from assistant.doctor.finding import Found, bad, good
from assistant.doctor.gemini import (
    LAST_TEST,
    NETWORK,
    address_of,
    ask_once,
    judge_failure,
    judge_sign_in,
    once_cost_usd,
    reach,
)
from assistant.domain.clock import Clock
from assistant.domain.records import TurnRecord, new_id
from assistant.domain.version import own_version
from integrations.errors import IntegrationError, Misconfigured, Retired
from integrations.gemini.access import NO_KEY, LazyClient
from integrations.gemini.faults import fault_of
from integrations.gemini.key import live_models
from integrations.gemini.live import LiveClient
from integrations.gemini.models import MODELS
from integrations.gemini.setup import LiveSetup, live_config
from integrations.gemini.tokens import prompt_tokens
from integrations.owner import OwnedTasks
from integrations.tls import tls_context

WITHIN_S = 60  # for the whole command
LIMIT_S = 52.0  # for the test; opening the house and closing the session can take the rest
LIMIT_USD = 0.05
_REACH_S = 5.0
_REQUEST_S = 8.0
_ONCE_S = 15.0


async def probe_cloud(
    settings: Settings,
    home: HomeContext,
    clock: Clock,
    tell: Tell | None = None,
    *,
    converses: bool = True,
) -> CloudReport:
    """Test the key, the network, the models and a Live conversation, and return the findings.
    Raises StoreError.

    `tell` is called with each finding immediately. Without `converses`, the test ends when the
    session is open, which costs nothing.
    """
    gemini, models = settings.gemini, await open_models(settings, home.store, clock)
    report = CloudReport(
        version=own_version(),
        day=clock.now().date().isoformat(),
        machine=f"{platform.machine()}, Python {platform.python_version()}",
        model=models.row.name,
        once_model=gemini.once_model,
        api_version=access_of(settings).version,
        google=not gemini.base_url,
    )
    findings = CloudFindings(report, tell)
    began = clock.monotonic()
    try:
        async with asyncio.timeout(LIMIT_S):
            await _CloudTest(settings, home, clock, findings, models).run(converses)
    except TimeoutError:
        findings.add("time", bad(f"stopped after {LIMIT_S:g} s", "see the slow steps above"))
    report.seconds = round(clock.monotonic() - began, 1)
    report.cost_usd = round(report.cost_usd, 6)
    if converses and may_use_cloud(settings):
        sound = report.figures.get("first_sound_ms")
        told = {} if sound is None else {"first_sound_ms": sound}
        await home.store.keep(LAST_TEST, {"day": report.day, **told})
    return report


async def probe_setup(settings: Settings, clock: Clock) -> Sequence[TimedFinding]:
    """Run the part of the test that costs nothing, and return its findings. The data folder isn't
    used. Raises ConfigError and StoreError."""
    with tempfile.TemporaryDirectory() as folder:
        assistant = settings.assistant.model_copy(update={"data": folder})
        apart = settings.model_copy(update={"assistant": assistant})
        async with (
            open_home(apart, clock) as home,
            open_background_work(apart, home, clock),  # adds its tools to the menu
        ):
            return (await probe_cloud(apart, home, clock, converses=False)).checks


class _CloudTest:
    def __init__(
        self,
        settings: Settings,
        home: HomeContext,
        clock: Clock,
        findings: CloudFindings,
        models: ModelChain,
    ) -> None:
        self._settings = settings
        self._home = home
        self._clock = clock
        self._findings = findings
        self._access = access_of(settings)
        self._chain = models
        self._row = models.row

    async def run(self, converses: bool) -> None:
        found = self._judge_key()
        self._findings.add("key", found)
        if found.status == "fail":
            return
        await self._network()
        await self._models()
        left_usd = await self._live(converses)
        if converses:
            await self._once(left_usd)

    def _judge_key(self) -> Found:
        settings = self._settings
        if not may_use_cloud(settings):
            why = NO_KEY if settings.privacy.accept_cloud else NO_CONSENT
            return bad("Gemini is not used", why)
        return judge_sign_in(self._access, self._row.name)

    # --- the network and plain requests

    async def _network(self) -> None:
        host, port, plain = address_of(self._settings)
        kinds = {"IPv4": socket.AF_INET, "IPv6": socket.AF_INET6}
        there = {name: await addresses(host, port, kind) for name, kind in kinds.items()}
        if not any(there.values()):
            self._findings.add("IPv4", bad(f"the name {host} is not found", NETWORK))
            return
        tries = (self._reach(name, there[name], plain) for name in kinds)
        ipv4, ipv6 = await asyncio.gather(*tries)
        self._findings.add("IPv4", *ipv4, "ipv4_ms")
        self._findings.add("IPv6", judged.judge_ipv6(ipv6[0], ipv4[0]), ipv6[1], "ipv6_ms")

    async def _reach(
        self, name: str, there: Sequence[str], plain: bool
    ) -> tuple[Found, float | None]:
        host, port, _ = address_of(self._settings)
        if not there:
            return good(f"{host} has no {name} address here"), None
        began = self._clock.monotonic()
        try:
            context = None if plain else tls_context(ca_file=self._access.ca_file)
            async with asyncio.timeout(_REACH_S):
                await reach(host, port, context, there[0])
        except Misconfigured as error:
            return bad("gemini.ca_file cannot be used", str(error)), None
        except TimeoutError:
            return bad(f"{host} does not answer over {name} in {_REACH_S:g} s", NETWORK), None
        except OSError as error:
            return judge_failure(host, error), None
        return good(f"connected to {host}"), (self._clock.monotonic() - began) * 1000

    async def _models(self) -> None:
        if self._access.way == "token":
            self._findings.add("models", good("not requested: a token opens only Live sessions"))
            return
        model, sdk = self._row.name, LazyClient(self._access)
        try:
            client = await sdk.get()  # importing the library isn't part of the request
            _, ms = await self._request("model", client.aio.models.get(model=model))
            if ms is not None:
                self._findings.add("model", good(f"{model} exists"), ms, "model_ms")
            if self._access.way == "vertex":
                return  # Vertex AI doesn't tell which models can be used with Live
            names, ms = await self._request("models", live_models(client))
            if names is not None:
                found = judged.judge_models(model, names, MODELS)
                offered = [row for row in self._chain.rows if row.name in names]
                if offered and self._row not in offered:
                    self._row = offered[0]
                    self._findings.report.model = self._row.name
                    found = judged.judge_next_model(model, self._row.name)
                self._findings.add("models", found, ms, "models_ms")
        except IntegrationError as error:
            self._findings.add("model", bad("not requested", str(error)))
        finally:
            await sdk.close()

    async def _request(self, check: str, work: Awaitable[Any]) -> tuple[Any, float | None]:
        began = self._clock.monotonic()
        try:
            async with asyncio.timeout(_REQUEST_S):
                answer = await work
        except Exception as error:
            fault = fault_of(error, model=self._row.name, access=self._access)
            found = judged.failed("no answer", fault)
            if isinstance(fault, Retired) and len(self._chain.rows) > 1:
                found = replace(found, status="warn")  # the list tells which model is used
            self._findings.add(check, found)
            return None, None
        return answer, (self._clock.monotonic() - began) * 1000

    async def _once(self, left_usd: float) -> None:
        if self._access.way == "token":
            return
        model, began = self._settings.gemini.once_model, self._clock.monotonic()
        if once_cost_usd(model) > left_usd:
            self._findings.add("once model", good("not tried, to stay within the limit"))
            return
        try:
            async with asyncio.timeout(_ONCE_S):
                said = await ask_once(self._access, model)
        except IntegrationError as error:
            self._findings.add("once model", judged.failed(f"no answer of {model}", error))
            return
        except TimeoutError:
            found = bad(f"no answer of {model} in {_ONCE_S:g} s", "try again later")
            self._findings.add("once model", found)
            return
        ms = (self._clock.monotonic() - began) * 1000
        await self._home.store.record_turn(said.as_record(self._clock.now()))
        self._findings.report.charge(said.cost)
        self._findings.add("once model", judged.judge_once(model, said.words), ms, "once_ms")

    # --- Live

    async def _live(self, converses: bool) -> float:
        """Test Live, and return how many US dollars can still be spent."""
        async with OwnedTasks() as tasks, LiveClient(self._access) as client:
            setup = await self._setup(tasks)
            facts = await asyncio.to_thread(_facts, setup)
            self._findings.report.figures |= {
                "setup_tools": facts.tools,
                "setup_characters": facts.characters,
                "setup_tokens_estimated": facts.tokens,
            }
            left_usd = await self._left_today()
            limit_usd = min(LIMIT_USD, left_usd)
            talk = CloudConversation(
                self._settings, self._home, self._clock, self._findings, facts, limit_usd
            )
            if converses and not talk.can_pay(setup):
                self._findings.add("cost", _too_costly(left_usd, facts))
                return 0.0
            repair = SetupRepair(client, self._home.store, self._clock, self._access.edition)
            session = await talk.open(repair, setup)
            try:
                if session is not None and converses:
                    await talk.converse(repair, setup, session)
            finally:
                await self._record(talk)
        return limit_usd - self._findings.report.cost_usd

    async def _setup(self, tasks: OwnedTasks) -> LiveSetup:
        settings = self._settings
        briefer = briefer_for(settings, self._home, self._clock, tasks)
        return setup_of(
            await briefer.brief(),
            self._row,
            google_search=settings.gemini.google_search,
            native_voice=settings.voice.engine == "gemini",
        )

    async def _left_today(self) -> float:
        today = await self._home.store.spent_since(start_of_day(self._clock.now()))
        return self._settings.limits.daily_cost_usd - today

    async def _record(self, talk: CloudConversation) -> None:
        report, now = self._findings.report, self._clock.now()
        if report.cost_usd:
            record = TurnRecord(
                new_id(now),
                now,
                "job",
                language="",
                brain="gemini-live",
                usage=talk.usage,
                cost_usd=report.cost_usd,
                model=self._row.name,
            )
            await self._home.store.record_turn(record)


async def addresses(host: str, port: int, family: int) -> list[str]:
    """Return the host's addresses of one family, or [] if the look-up fails."""
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(_REACH_S):
            found = await loop.getaddrinfo(
                host, port, family=family, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG
            )
    except (OSError, TimeoutError):
        return []
    return [str(address[0]) for *_, address in found]


def _facts(setup: LiveSetup) -> SetupFacts:
    sent = live_config(setup).model_dump_json(exclude_none=True, by_alias=True)
    read = prompt_tokens(setup.instruction, setup.declarations)
    return SetupFacts(len(setup.declarations), len(sent), read)


def _too_costly(left_usd: float, facts: SetupFacts) -> Found:
    if left_usd < LIMIT_USD:
        return bad("nothing more was tried", "limits.daily_cost_usd is reached for today")
    told = f"one turn would cost more than {LIMIT_USD:.2f} USD ({facts.told})"
    return bad(told, "expose fewer devices and tools")
