"""Questions 6 and 7 of setup: consent to Gemini, with a summary of its terms, and the key."""

from dataclasses import dataclass, replace
from datetime import date

from assistant.config.schema import Settings
from assistant.setup.answers import (
    STYLES,
    Answers,
    SetupQuestions,
    Unclear,
    is_skip,
    yes_or_no,
)
from assistant.setup.document import draft
from assistant.setup.services import SetupServices
from assistant.setup.steps import try_gemini
from integrations.gemini.access import KEY_PAGE
from integrations.gemini.events import TokensUsed
from integrations.gemini.key import impossible
from integrations.gemini.models import cost_usd, model_row

COMMANDS_A_DAY = 50
TERMS = "https://ai.google.dev/gemini-api/terms"
CLOUD_TERMS = "https://cloud.google.com/terms"

# The tokens for "Turn on the kitchen light" in the simulated house: the instruction and tools
# (2,500 tokens) are read before the call and again after its result, with 2 x 4 s of audio at 25
# tokens a second and a 3 s answer.
ONE_COMMAND = TokensUsed(
    input_tokens=5_200,
    output_tokens=125,
    by_modality={
        "input_text": 5_000,
        "input_audio": 200,
        "output_audio": 75,
        "output_text": 50,
    },
)


def price_of_a_day(settings: Settings, on: date | None = None) -> float:
    """Estimate the price of COMMANDS_A_DAY commands with the configured model, in US dollars."""
    row, _ = model_row(settings.gemini.model[0])
    return COMMANDS_A_DAY * cost_usd(row, ONE_COMMAND, on)


@dataclass(frozen=True, slots=True)
class Disclosure:
    """Terms to which a person agrees by using Gemini, besides what leaves the home."""

    whom: str
    models: tuple[str, ...]
    commands: int  # per day, for the price
    price_usd: float  # of these commands
    cap_usd: float  # most that Hearth spends per day
    terms: str  # a web page
    project: str  # of Vertex AI, or ""; without one, Google may use what an unpaid key sends


def disclosure(settings: Settings, on: date | None = None) -> Disclosure:
    gemini = settings.gemini
    project = gemini.vertex_project
    return Disclosure(
        whom=f"Google's Vertex AI in {gemini.vertex_location}"
        if project
        else "Google's Gemini API",
        models=(*gemini.model, gemini.once_model),
        commands=COMMANDS_A_DAY,
        price_usd=price_of_a_day(settings, on),
        cap_usd=settings.limits.daily_cost_usd,
        terms=CLOUD_TERMS if project else TERMS,
        project=project,
    )


def four_lines(settings: Settings, on: date | None = None) -> tuple[str, str, str, str]:
    """Return four lines about Gemini: what is sent, to whom, at what price and on which terms."""
    told = disclosure(settings, on)
    terms = f"those of your project {told.project}: {told.terms}"
    if not told.project:
        terms = (
            "with an unpaid key, Google may use what you send to improve its products: "
            f"{told.terms}"
        )
    return (
        "What leaves your home: the audio of each sentence after the wake word, the names and "
        "states of what you expose in Home Assistant, the results of actions, and a camera's "
        "picture if you ask about one.",
        f"Who gets it: {told.whom} ({', '.join(told.models)}).",
        f"What it costs: about {told.price_usd:.2f} USD for {told.commands} "
        f"commands a day (an estimate). Hearth spends at most {told.cap_usd:.2f} USD a day "
        "(limits.daily_cost_usd).",
        f"Which terms apply: {terms}",
    )


async def ask_about_gemini(
    questions: SetupQuestions, means: SetupServices, present: Settings, answers: Answers
) -> Answers:
    """Ask for consent and the key, and add them to the answers. Nothing is sent to Google before
    the user has agreed."""
    person = questions.person
    if answers.accept_cloud is None:
        questions.begin("Gemini")
        settings = draft(present, answers)
        for line in four_lines(settings):
            person.tell(f"   - {line}")
        before = present.privacy.accept_cloud
        accepted = await questions.ask(
            "Use Gemini? If you answer no, everything stays in your home",
            lambda line: yes_or_no(line, before),
            "yes" if before else "no",
        )
        if accepted != before:
            answers = replace(answers, accept_cloud=accepted)
    elif answers.accept_cloud and not present.privacy.accept_cloud:
        person.tell("")
        person.tell("You are agreeing to the following:", "bold")
        for line in four_lines(draft(present, answers)):
            person.tell(f"   - {line}")
    settings = draft(present, answers)
    if not settings.privacy.accept_cloud:
        return answers
    if answers.gemini_key is not None or settings.gemini.vertex_project:
        await _try(questions, means, settings)
        return answers
    return await _ask_for_key(questions, means, present, answers)


async def _ask_for_key(
    questions: SetupQuestions, means: SetupServices, present: Settings, answers: Answers
) -> Answers:
    kept = present.gemini.api_key.get_secret_value()
    questions.begin("Gemini key")
    questions.person.tell(f"   Create one at {KEY_PAGE}")
    does = "keeps the current one" if kept else "skips it"

    def read(line: str) -> str:
        if is_skip(line):
            return ""
        problem = impossible(line) if line else ""
        if problem:
            raise Unclear(problem)
        return line

    while True:
        key = await questions.ask(f"Key (not shown; Enter {does})", read, hidden=True)
        tried = replace(answers, gemini_key=key) if key else answers
        settings = draft(present, tried)
        if not (key or kept):
            questions.person.tell(
                "Skipped. Without a key, Gemini isn't used: add one with "
                "hearth setup --gemini-key-file FILE.",
                "yellow",
            )
            return answers
        if await _try(questions, means, settings) or not key:
            return tried


async def _try(questions: SetupQuestions, means: SetupServices, settings: Settings) -> bool:
    """Try the key. Returns False only if Google rejects it, not if Google is unreachable."""
    well = True
    async for found in try_gemini(means, settings):
        questions.person.tell(found.text, STYLES[found.tone])
        well = well and found.tone != "bad"
    return well
