"""The simulated house in a size of its choice, as a program beside Hearth.

    python -m tests.benchmarks.scale.serve SIZE

Prints one line, `{"url": ..., "token": ...}`. Then it reads lines from its input: `change COUNT
PER_SECOND` lets sensors change so often, one after the other, and prints a line when that is over.
"""

import asyncio
import itertools
import json
import sys

from integrations.demo_home import DemoHome
from tests.benchmarks.scale.houses import plan


async def serve(size: int) -> None:
    """Serve until the input ends."""
    house = plan(size)
    async with DemoHome(things=house.things, areas=house.areas, floors=house.floors) as home:
        print(json.dumps({"url": home.url, "token": home.token}), flush=True)
        sensors = [thing.entity_id for thing in house.things if thing.domain == "sensor"]
        values = itertools.count(1)
        while line := await asyncio.to_thread(sys.stdin.readline):
            _, count, per_s = line.split()
            for entity_id in itertools.islice(itertools.cycle(sensors), int(count)):
                home.house.write(entity_id, str(next(values) / 10))
                await asyncio.sleep(1 / float(per_s))
            print("changed", flush=True)


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
