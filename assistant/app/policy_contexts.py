"""What the policy is told of the settings, and of the moment of each call."""

import logging
from datetime import time

from assistant.config.schema import Settings
from assistant.config.tools import Policy, PolicyRule
from assistant.domain.clock import Clock
from assistant.domain.policy_context import Mode, PolicyContext
from assistant.domain.records import SmallValues, StoreError
from assistant.tools.policy.choices import ModeKeeper, Ratings
from assistant.tools.policy.rules import OwnerRule, Ruling, Rulings

LOOK_S = 5.0  # between two looks at what other processes have changed

_log = logging.getLogger(__name__)


def rulings_of(policy: Policy) -> Rulings:
    """The section `policy` as the policy takes it."""
    return Rulings(
        policy.costly,
        policy.secure,
        tuple(map(_rule, policy.rules)),
        has_pin=bool(policy.pin.get_secret_value()),
    )


class PolicyContexts:
    """Tells the moment of each call: mode, time of day, this box and the owner's ratings."""

    def __init__(self, kept: SmallValues, clock: Clock, settings: Settings) -> None:
        """`kept`: the store, in which mode and ratings are."""
        self.modes = ModeKeeper(kept, clock, Mode(settings.policy.mode))
        self.ratings = Ratings(kept)
        self._clock = clock
        names = (settings.assistant.name, settings.assistant.area)
        self._satellite = tuple(filter(None, names))

    async def load(self) -> None:
        """Take up what was kept. Raises StoreError."""
        await self.modes.load()
        await self.ratings.load()

    async def follow(self) -> None:
        """Keep in step with other processes of this data folder, for ever: somebody may rate
        scripts with `hearth tools rate`, or switch the mode with `hearth ask`."""
        while True:
            await self._clock.sleep(LOOK_S)
            try:
                await self.load()
            except StoreError as error:
                if not error.told:
                    _log.warning("mode and ratings cannot be read: %s", error)

    def __call__(self) -> PolicyContext:
        """What holds now."""
        now = self._clock.now().time()
        return PolicyContext(self.modes.current, now, self._satellite, self.ratings.tiers)


def _rule(rule: PolicyRule) -> OwnerRule:
    return OwnerRule(
        decide=Ruling(rule.decide),
        entity=rule.entity,
        area=rule.area,
        label=rule.label,
        domain=rule.domain,
        tool=rule.tool,
        server=rule.server,
        direction=rule.direction,
        begins=time.fromisoformat(rule.from_) if rule.from_ else None,
        ends=time.fromisoformat(rule.to) if rule.to else None,
        satellite=rule.satellite,
    )
