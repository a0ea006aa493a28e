"""`what_are_you_doing` and `drop_it`: what goes on in the background, and its end."""

import unicodedata
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from assistant.domain.outcome import Tier
from assistant.jobs.keeper import Job
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.protocol import NO_ARGUMENTS, BuiltIn, BuiltInRequest, BuiltInResult

if TYPE_CHECKING:
    from assistant.jobs.keeper import Jobs


WHAT_ARE_YOU_DOING = "what_are_you_doing"
DROP_IT = "drop_it"
LONG_WORD = 4  # letters


class LongWork:
    """The two tools about what goes on. They never see the work of their own turn."""

    def __init__(self, works: "Jobs", catalogue: Catalogue) -> None:
        self._works = works
        self._catalogue = catalogue

    def tools(self) -> tuple[BuiltIn, BuiltIn]:
        """Both, for the menu."""
        doing = BuiltIn(
            name=WHAT_ARE_YOU_DOING,
            description="What you are still working on in the background. Call it when the person "
            "asks what you are doing, or whether something is ready.",
            schema=NO_ARGUMENTS,
            tier=Tier.READ,
            run=self._tell,
            programs=False,
        )
        drop = BuiltIn(
            name=DROP_IT,
            description="Ends work that goes on in the background. Call it when the person says to "
            "drop, cancel or forget it. Not for stopping a device or a timer.",
            schema={
                "type": "object",
                "properties": {
                    "which": {
                        "type": "string",
                        "description": "Words from what_are_you_doing that name the one meant; "
                        "leave it out for all.",
                    }
                },
            },
            tier=Tier.COMFORT,
            run=self._drop,
            programs=False,
        )
        return doing, drop

    async def _tell(self, arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        jobs = self._works.under_way(other_than=request.turn_id)
        if not jobs:
            return BuiltInResult(self._catalogue.say("jobs.nothing", request.language))
        items = (
            self._catalogue.say(
                "jobs.item", request.language, what=job.label, time=f"{job.started_at:%H:%M}"
            )
            for job in jobs
        )
        return BuiltInResult(
            self._catalogue.say("jobs.doing", request.language, what="; ".join(items))
        )

    async def _drop(self, arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        jobs = self._works.under_way(other_than=request.turn_id)
        if not jobs:
            return BuiltInResult(self._catalogue.say("jobs.nothing", request.language))
        which = str(arguments.get("which", ""))
        meant = _named(which, jobs) if which else jobs
        if not meant or (which and len(meant) > 1):
            labels = tuple(job.label for job in meant or jobs)
            key = "jobs.which" if meant else "jobs.no_such"
            sentence = self._catalogue.say(key, request.language, what="; ".join(labels))
            return BuiltInResult(sentence, failed=True, valid_options=labels)
        self._works.drop(meant)
        what = "; ".join(job.label for job in meant)
        return BuiltInResult(self._catalogue.say("jobs.dropped", request.language, what=what))


def _named(which: str, jobs: Sequence[Job]) -> Sequence[Job]:
    """The jobs whose label holds what was said, else those that share most of its long words."""
    said = _plain(which)
    whole = [job for job in jobs if said and said in _plain(job.label)]
    if whole:
        return whole
    shared = [len(_long_words(said) & _long_words(_plain(job.label))) for job in jobs]
    most = max(shared)
    return [job for job, number in zip(jobs, shared, strict=True) if most and number == most]


def _long_words(plain: str) -> frozenset[str]:
    """Words that mean something: articles and the like are shorter."""
    return frozenset(word for word in plain.split() if len(word) >= LONG_WORD)


def _plain(text: str) -> str:
    """Lower-case words without accents and punctuation."""
    letters = unicodedata.normalize("NFD", text.casefold())
    kept = (c if c.isalnum() else " " for c in letters if not unicodedata.combining(c))
    return " ".join("".join(kept).split())
