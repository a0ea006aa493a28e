"""Questions 6 and 7: whether Gemini may be used, told in four lines, and the key."""

from dataclasses import replace

from assistant.config.schema import Settings
from assistant.setup import typed
from assistant.setup.answers import Answers
from assistant.setup.consent import four_lines
from assistant.setup.draft import draft
from assistant.setup.ports import Means
from assistant.setup.questions import Questions
from assistant.setup.typed import Unclear
from integrations.errors import IntegrationError, SignInAgain
from integrations.gemini.access import KEY_PAGE
from integrations.gemini.key import doubtful, impossible


async def ask_about_gemini(
    questions: Questions, means: Means, present: Settings, answers: Answers
) -> Answers:
    """The answers with this one. Nothing goes to Google before the yes."""
    person = questions.person
    if answers.accept_cloud is None:
        questions.begin("Gemini: a yes, or everything stays in the house")
        settings = draft(present, answers)
        for line in four_lines(settings):
            person.tell(f"   - {line}")
        before = present.privacy.accept_cloud
        accepted = await questions.ask(
            "May Gemini be used? yes, or no: this box and Home Assistant alone",
            lambda line: typed.yes_or_no(line, before),
            "yes" if before else "no",
        )
        if accepted != before:
            answers = replace(answers, accept_cloud=accepted)
    elif answers.accept_cloud and not present.privacy.accept_cloud:
        person.tell("")
        person.tell("You say yes to this:", "bold")
        for line in four_lines(draft(present, answers)):
            person.tell(f"   - {line}")
    settings = draft(present, answers)
    if not settings.privacy.accept_cloud:
        return answers
    if answers.gemini_key is not None:
        await _try(questions, means, settings)
        return answers
    return await _ask_for_key(questions, means, present, answers)


async def _ask_for_key(
    questions: Questions, means: Means, present: Settings, answers: Answers
) -> Answers:
    """A key that Google does not refuse; Enter keeps the one there is, or goes on without."""
    kept = present.gemini.api_key.get_secret_value()
    questions.begin("A key for Gemini")
    questions.person.tell(f"   Make one at {KEY_PAGE}")
    told = "Enter keeps the present one" if kept else "Enter goes on without, for now"

    def read(line: str) -> str:
        problem = impossible(line) if line else ""
        if problem:
            raise Unclear(problem)
        return line

    while True:
        key = await questions.ask(f"Key (not shown; {told})", read, hidden=True)
        tried = replace(answers, gemini_key=key) if key else answers
        settings = draft(present, tried)
        if not (key or kept):
            questions.person.tell(
                "Without a key Gemini is not asked; give it later with "
                "hearth setup --gemini-key-file FILE.",
                "yellow",
            )
            return answers
        if await _try(questions, means, settings) or not key:
            return tried


async def _try(questions: Questions, means: Means, settings: Settings) -> bool:
    """Whether that key may be kept: Google takes it, or could not be asked."""
    person = questions.person
    doubt = doubtful(settings.gemini.api_key.get_secret_value())
    if doubt:
        person.tell(doubt, "yellow")
    try:
        await means.try_key(settings)
    except SignInAgain as error:
        person.tell(str(error), "red")
        return False
    except IntegrationError as error:
        person.tell(f"The key was not tried: {error}", "yellow")
        return True
    person.tell(f"Google takes the key; {settings.gemini.model} is there.", "green")
    return True
