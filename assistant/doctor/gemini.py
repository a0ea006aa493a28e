"""Checks of Gemini: consent, connection and, on request, an answer. Without the user's consent
(`privacy.accept_cloud`) nothing is sent to Google, not even a DNS query."""

import asyncio
import ssl
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any
from urllib.parse import urlsplit

from assistant.app.model_access import access_of, may_use_cloud, open_models
from assistant.brains.gemini.model_chain import GoneModel
from assistant.brains.gemini.repair import NAME, key_of, read_refused
from assistant.brains.gemini.usage import spent
from assistant.brains.slots import CLOUD, Budget
from assistant.config.errors import ConfigError
from assistant.config.schema import Settings
from assistant.doctor.daemon import Scene
from assistant.doctor.finding import (
    Check,
    Finding,
    Found,
    Watch,
    bad,
    examine,
    good,
    odd,
    unwatched,
)
from assistant.domain.brain import Spent, Usage
from assistant.domain.clock import SystemClock
from assistant.domain.records import StoreError, TurnRecord, new_id
from assistant.journal.store import Store
from integrations.errors import IntegrationError, Misconfigured
from integrations.gemini.access import NO_KEY, Access, read_credentials
from integrations.gemini.events import TokensUsed
from integrations.gemini.key import doubtful, impossible, try_key
from integrations.gemini.models import ModelRow, cost_usd, model_row
from integrations.gemini.once import OnceClient, OnceSetup, OnceText
from integrations.gemini.tokens import text_tokens
from integrations.tls import tls_context

LAST_TEST = "gemini_test"  # key of the stored result of `hearth doctor --cloud`
_CONNECT_S = 6.0
_WORD_S = 20.0  # includes the import of google-genai
_ENDS_SOON_DAYS = 14
_SHUTDOWN_SOON_DAYS = 30
NETWORK = "check the network and its DNS; Hearth's local brains work without it"
_ASKED = "Answer with one word: yes."
_ONCE_TOKENS = 500  # most that the model thinks and says about it, as an estimate


async def examine_gemini(scene: Scene, watch: Watch = unwatched) -> list[Finding]:
    """Return the findings about Gemini. If Gemini isn't used, only the first check runs."""
    findings = await examine(CHECKS[:1], scene, watch)
    if not is_used(scene.settings):
        return findings
    if findings[0].status != "fail":
        findings += await examine(CHECKS[1:3], scene, watch)
    if findings[-1].status != "fail" and scene.may.try_cloud:
        findings += await examine(CHECKS[3:], scene, watch)
    return findings


def is_used(settings: Settings) -> bool:
    named = any(name in CLOUD for name in settings.brain.order)
    return named and settings.privacy.accept_cloud


async def _allowed(scene: Scene) -> Found:
    settings = scene.settings
    if not any(name in CLOUD for name in settings.brain.order):
        return good("not used: brain.order lists no Gemini brain")
    if not settings.privacy.accept_cloud:
        return good("not used: privacy.accept_cloud is false, so nothing leaves the house")
    if not may_use_cloud(settings):
        return bad("allowed, but there is no key", NO_KEY)
    model, known = await _known(settings)
    found = judge_sign_in(access_of(settings), model)
    return replace(found, detail=found.detail + known)


async def _known(settings: Settings) -> tuple[str, str]:
    # the Live model in use, and what is known of it
    clock = SystemClock()
    try:
        async with Store(settings.database, clock) as store:
            model = (await open_models(settings, store, clock)).row.name
            key = key_of(model, access_of(settings).edition)
            refused = read_refused(await store.kept(NAME), key, clock.now())
            tested = told_of_test(await store.kept(LAST_TEST))
    except (ConfigError, StoreError):
        return settings.gemini.model[0], ""  # the check of the journal reports this
    if not refused:
        return model, tested
    until = min(datetime.fromisoformat(one.until) for one in refused.values()).astimezone()
    names = ", ".join(sorted(refused))
    left_out = f", without the features that the service rejected (until {until:%Y-%m-%d}): {names}"
    return model, left_out + tested


def told_of_test(stored: Any) -> str:
    """Return a description of the last `hearth doctor --cloud`, or "" if there is none. `stored` is
    the value of LAST_TEST."""
    match stored:
        case {"day": str(day), "first_sound_ms": int(ms)}:
            return f"; tested on {day}: first sound after {ms:,} ms"
        case {"day": str(day)}:
            return f"; tested on {day}: no spoken answer"
    return ""


def judge_sign_in(access: Access, model: str) -> Found:
    """Check how Hearth signs in. No part of a secret is shown."""
    if access.way == "vertex":
        try:
            account = read_credentials(access.credentials_file)
        except Misconfigured as error:
            return bad("allowed, but there are no credentials for Vertex AI", str(error))
        whom = getattr(account, "service_account_email", "") or "a user's account"
        where = f"project {access.project} in {access.location}, as {whom}"
        return good(f"allowed, with Vertex AI ({where}); model {model}")
    # The service isn't Google's, so its keys can have another format.
    foreign = bool(access.base_url)
    problem = impossible(access.api_key)
    if problem and not foreign:
        return bad("allowed, but the key is malformed", problem)
    if access.way == "token":
        return good(f"allowed, with an ephemeral token, for Live only; model {model}")
    doubt = "" if foreign else doubtful(access.api_key)
    told = f"allowed, with a key; model {model}"
    return odd(told, f"{doubt} If Google rejects the key, copy it again.") if doubt else good(told)


async def _models(scene: Scene) -> Found:
    settings, clock = scene.settings, SystemClock()
    live = [("gemini.model", model_row(name)[0]) for name in settings.gemini.model]
    once = ("gemini.once_model", model_row(settings.gemini.once_model, "once")[0])
    try:
        async with Store(settings.database, clock) as store:
            gone = (await open_models(settings, store, clock)).gone
    except (ConfigError, StoreError):
        gone = {}  # the check of the journal reports this
    return judge_offered([*live, once], gone, clock.now().date())


def judge_offered(
    models: Sequence[tuple[str, ModelRow]], gone: Mapping[str, GoneModel], today: date
) -> Found:
    """Check which models are gone, and which will be shut down.

    Each model is passed with the setting that names it.
    """
    told = [(setting, row, _news_of(row, gone, today)) for setting, row in models]
    news = [one for *_, one in told if one]
    names = [row.name for _, row in models]
    if not news:
        ahead = f"no shutdown announced for the next {_SHUTDOWN_SOON_DAYS} days"
        return good(f"{', '.join(names)}: {ahead}")
    mends = []
    for setting, row, one in told:
        if one and (row.name in gone or row.successor in names):
            mends.append(f"remove {row.name} from {setting}")
        elif one:
            mends.append(f"replace {row.name} with {row.successor} in {setting}")
    return odd("; ".join(news), " and ".join(mends))


def _news_of(row: ModelRow, gone: Mapping[str, GoneModel], today: date) -> str:
    if row.name in gone:
        again = f"{gone[row.name].ends.astimezone():%Y-%m-%d %H:%M}"
        return f"Google does not offer {row.name}; it is skipped until {again}"
    left = None if row.shutdown is None else (row.shutdown - today).days
    if left is None or left > _SHUTDOWN_SOON_DAYS:
        return ""
    if left < 0:
        return f"Google announced the shutdown of {row.name} for {row.shutdown}, which is past"
    ahead = {0: "today", 1: "tomorrow"}.get(left, f"in {left} days")
    return f"Google can shut down {row.name} from {row.shutdown} on, {ahead}"


async def _connection(scene: Scene) -> Found:
    """Check the DNS name, the connection and the certificate, without sending the key."""
    host, port, plain = address_of(scene.settings)
    try:
        context = None if plain else tls_context(ca_file=scene.settings.gemini.ca_file)
        async with asyncio.timeout(_CONNECT_S):
            ends = await reach(host, port, context)
    except Misconfigured as error:
        return bad("gemini.ca_file cannot be used", str(error))
    except TimeoutError:
        return bad(f"{host} does not answer in {_CONNECT_S:g} s", NETWORK)
    except OSError as error:
        return judge_failure(host, error)
    return judge_reached(host, ends, datetime.now(UTC))


def address_of(settings: Settings) -> tuple[str, int, bool]:
    """Return the service's host and port, and True if it is used without TLS."""
    parts = urlsplit(access_of(settings).address)
    plain = parts.scheme == "http"
    return parts.hostname or "", parts.port or (80 if plain else 443), plain


async def reach(
    host: str, port: int, context: ssl.SSLContext | None, address: str = ""
) -> str | None:
    """Connect, and return the certificate's expiry time in ssl's format, or None without TLS.
    `address` is the IP address to use, or "" to use any of the host's addresses. Raises OSError."""
    name = host if context else None
    _, writer = await asyncio.open_connection(
        address or host, port, ssl=context, server_hostname=name
    )
    try:
        told = writer.get_extra_info("peercert") or {}
        return str(told["notAfter"]) if "notAfter" in told else None
    finally:
        writer.transport.abort()  # nothing was sent, so there is nothing to flush


def judge_reached(host: str, ends: str | None, now: datetime) -> Found:
    """Check the certificate of a successful connection. `ends` is its expiry time in ssl's format,
    or None without TLS."""
    if ends is None:
        return odd(f"connected to {host} without TLS", "set gemini.base_url to an https address")
    left = int((ssl.cert_time_to_seconds(ends) - now.timestamp()) // 86_400)
    told = f"connected to {host}; its certificate is valid for {left} days"
    if left < _ENDS_SOON_DAYS and not host.endswith(
        ".googleapis.com"
    ):  # Google renews its own certificate
        return odd(told, "renew it soon")
    return good(told)


def judge_failure(host: str, error: OSError) -> Found:
    if isinstance(error, ssl.SSLCertVerificationError):
        return bad(
            f"the certificate of {host} is not trusted ({error.verify_message})",
            "check the clock; if it is right, something on the network intercepts the connection, "
            "or gemini.ca_file must name the certificate's authority",
        )
    if isinstance(error, ssl.SSLError):
        why = getattr(error, "reason", "") or type(error).__name__
        return bad(f"cannot set up TLS with {host} ({why})", NETWORK)
    told = error.strerror or type(error).__name__
    return bad(f"cannot reach {host} ({told})", NETWORK)


async def _word(scene: Scene) -> Found:
    gemini, access = scene.settings.gemini, access_of(scene.settings)
    if access.way == "token":
        return good("not tried: an ephemeral token opens only Live sessions; use `--cloud`")
    clock = SystemClock()
    try:
        async with Store(scene.settings.database, clock) as store:
            if await Budget(
                scene.settings.limits.daily_cost_usd, store.spent_since, clock
            ).reached():
                return good("not tried: today's limits.daily_cost_usd is reached")
            model = await try_key(access, gemini.model)
            said = await ask_once(access, gemini.once_model)
            await store.record_turn(said.as_record(clock.now()))
    except (ConfigError, StoreError) as error:
        return bad("not tried, or its cost could not be recorded", str(error))
    except IntegrationError as error:
        return bad("no answer", str(error))
    return judge_word(said.words, said.cost.usage, model, gemini.once_model)


@dataclass(frozen=True, slots=True)
class OnceAnswer:
    """The answer to a plain request, and what it cost."""

    words: str
    cost: Spent

    def as_record(self, now: datetime) -> TurnRecord:
        return TurnRecord(
            new_id(now),
            now,
            "job",
            language="",
            brain="gemini-once",
            usage=self.cost.usage,
            cost_usd=self.cost.cost_usd,
            model=self.cost.model,
        )


def once_cost_usd(model: str) -> float:
    """Estimate the cost of `ask_once`, including the model's thoughts."""
    row, _ = model_row(model, "once")
    return cost_usd(row, TokensUsed(text_tokens(_ASKED), _ONCE_TOKENS))


async def ask_once(access: Access, model: str) -> OnceAnswer:
    """Ask the model for one word in a plain request. Raises IntegrationError."""
    row, _ = model_row(model, "once")
    words, used = "", TokensUsed(0, 0)
    async with aclosing(OnceClient(access)) as client:
        conversation = client.converse(OnceSetup(row, ""))
        conversation.read(_ASKED)
        async with aclosing(conversation.stream()) as events:
            async for event in events:
                if isinstance(event, OnceText):
                    words += event.text
                elif isinstance(event, TokensUsed):
                    used = event
    return OnceAnswer(words.strip(), spent(row, used))


def judge_word(words: str, used: Usage, model: str, once_model: str) -> Found:
    """Check that there is an answer. Its text isn't shown, because it is untrusted."""
    if not words:
        return odd(
            f"{once_model} gave an empty answer",
            "try again, or set gemini.once_model to another model",
        )
    tokens = f"{'about ' * used.estimated}{used.input_tokens + used.output_tokens}"
    return good(
        f"{model} is available, {once_model} answers ({tokens} tokens); "
        "`hearth doctor --cloud` also tests speech"
    )


CHECKS: tuple[Check[Scene], ...] = (
    Check("gemini", _allowed),
    Check("gemini models", _models),
    Check("gemini connection", _connection),
    Check("gemini answer", _word, limit_s=_WORD_S + 15.0),
)
