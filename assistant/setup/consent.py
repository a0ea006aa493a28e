"""What a person says yes to before the first byte goes to Google. Four lines, all of it counted."""

from datetime import date

from assistant.config.schema import Settings
from integrations.gemini.events import TokensUsed
from integrations.gemini.models import cost_usd, model_row

COMMANDS_A_DAY = 50
TERMS = "https://ai.google.dev/gemini-api/terms"

# "Turn on the kitchen light" in the demo's house: the instruction and the menu (6,000 tokens) are
# read before the call and after its result, 2 x 4 s of sound at 25 tokens a second, 3 s of answer.
ONE_COMMAND = TokensUsed(
    input_tokens=12_200,
    output_tokens=125,
    by_modality={
        "input_text": 12_000,
        "input_audio": 200,
        "output_audio": 75,
        "output_text": 50,
    },
)


def price_of_a_day(settings: Settings, on: date | None = None) -> float:
    """USD for COMMANDS_A_DAY commands like ONE_COMMAND with the model of the settings."""
    row, _ = model_row(settings.gemini.model)
    return COMMANDS_A_DAY * cost_usd(row, ONE_COMMAND, on)


def four_lines(settings: Settings, on: date | None = None) -> tuple[str, str, str, str]:
    """What leaves, to whom, at what price, and under which terms."""
    cap = settings.limits.daily_cost_usd
    return (
        "What leaves: the sound of a sentence after the wake word, names and states of what you "
        "expose in Home Assistant, results of tools, a camera's picture if you ask about one.",
        f"To whom: Google's Gemini API ({settings.gemini.model}, {settings.gemini.once_model}).",
        f"At what price: about {price_of_a_day(settings, on):.2f} USD for {COMMANDS_A_DAY} "
        f"commands a day, an estimate; the cap is {cap:.2f} USD a day (limits.daily_cost_usd).",
        "Under which terms: those of an unpaid key differ, what it sends may be used to improve "
        f"Google's products: {TERMS}",
    )
