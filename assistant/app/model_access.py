"""Decides how Hearth signs in to Gemini, and which models the brains can use."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from assistant.config.schema import Settings
from assistant.domain.clock import Clock
from integrations.address import host_of, is_at_home, shown
from integrations.gemini.access import Access
from integrations.gemini.models import model_row

if TYPE_CHECKING:  # imported only if they are used
    from assistant.brains.gemini.lifecycle import LiveTimeouts
    from assistant.brains.gemini.model_chain import ModelChain
    from assistant.journal.store import Store
    from integrations.chat.client import ChatServer

NO_CONSENT = (
    "Gemini is not used because it would send speech to Google: set privacy.accept_cloud = true "
    "to allow that"
)
NO_LOCAL_MODEL = (
    "The brain local is left out because local.url and local.model are not both set: name a server "
    "and one of its models there"
)
NOT_AT_HOME = (
    "The brain local is left out because {url} is not in the home network, so your words would "
    "leave the house: set privacy.accept_cloud = true to allow that"
)


def access_of(settings: Settings) -> Access:
    gemini = settings.gemini
    return Access(
        gemini.api_key.get_secret_value().strip(),
        gemini.base_url,
        gemini.ca_file,
        gemini.api_version,
        gemini.vertex_project,
        gemini.vertex_location,
        gemini.vertex_credentials_file,
    )


def can_sign_in(settings: Settings) -> bool:
    """Return True if there is a Gemini API key, an ephemeral token or a Vertex AI project."""
    access = access_of(settings)
    return bool(access.api_key or access.project)


async def open_models(
    settings: Settings,
    store: "Store",
    clock: Clock,
    on_change: Callable[[str], None] = lambda sentence: None,
) -> "ModelChain":
    """Return the model chain for `gemini.model`, after loading which models are gone."""
    from assistant.brains.gemini.model_chain import ModelChain

    rows = [model_row(name)[0] for name in settings.gemini.model]
    models = ModelChain(rows, store, clock, access_of(settings).edition, on_change)
    await models.load()
    return models


def why_no_local_model(settings: Settings) -> str:
    """Return why the brain `local` can't be used with these settings, or "" if it can."""
    url = settings.local.url
    if not (url and settings.local.model):
        return NO_LOCAL_MODEL
    if settings.privacy.accept_cloud or is_at_home(host_of(url) or ""):
        return ""
    return NOT_AT_HOME.format(url=shown(url))


def chat_server(settings: Settings) -> "ChatServer":
    from integrations.chat.client import ChatServer

    local = settings.local
    key = local.api_key.get_secret_value().strip()
    waits = local.connect_timeout_s, local.first_word_timeout_s
    return ChatServer(local.url, local.model, key, local.thinking, *waits)


def may_use_cloud(settings: Settings) -> bool:
    """Return True if `privacy.accept_cloud` is on and Hearth can sign in to Gemini."""
    return settings.privacy.accept_cloud and can_sign_in(settings)


def live_timeouts(settings: Settings) -> "LiveTimeouts":
    from assistant.brains.gemini.lifecycle import LiveTimeouts

    gemini = settings.gemini
    return replace(
        LiveTimeouts(),
        connect_s=gemini.connect_timeout_s,
        warm_s=gemini.keep_warm_s,
        fresh_after_s=gemini.fresh_after_s,
        first_event_s=gemini.first_event_timeout_s,
        late_text_s=gemini.late_text_ms / 1000,
    )
