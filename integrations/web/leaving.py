"""What is done for a program only as long as it waits."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import Request

from integrations.owner import OwnedTasks
from integrations.web.problems import gone

Result = TypeVar("Result")


async def while_waited_for(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """What comes of it. It is cancelled where the program hangs up meanwhile.

    The body must have been read. Raises Refused, which nobody reads any more, and what it raises.
    """
    try:
        async with OwnedTasks() as tasks, asyncio.timeout(None) as there:
            tasks.start(_end_when_gone(request, there), "hanging up")
            return await work
    except TimeoutError:
        if not there.expired():
            raise
        raise gone() from None


async def _end_when_gone(request: Request, there: asyncio.Timeout) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    there.reschedule(asyncio.get_running_loop().time())
