"""A tool server over stdio whose messages make no sense; the seed determines them.

python -m tests.chaos.odd_server SEED
"""

import json
import sys
from random import Random
from typing import Any

from tests.chaos.odd import as_json, changed, garbled

_TOOL = {
    "name": "t",
    "description": "Does it.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
    "annotations": {"readOnlyHint": True},
}
_RESULTS: dict[str, Any] = {
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {"listChanged": True}, "prompts": {}},
        "serverInfo": {"name": "odd", "version": "1"},
    },
    "tools/list": {"tools": [_TOOL, {**_TOOL, "name": "u"}]},
    "tools/call": {"content": [{"type": "text", "text": "fine"}], "isError": False},
    "prompts/list": {"prompts": [{"name": "p"}]},
}


def main(seed: str) -> None:
    """Answer line by line; a quarter of the answers is odd."""
    chance = Random(seed)
    for line in sys.stdin:
        asked = json.loads(line)
        if asked.get("id") is None:
            continue
        result = _RESULTS.get(asked["method"], {})
        answer = {"jsonrpc": "2.0", "id": asked["id"], "result": result}
        text = as_json(answer).encode()
        if chance.random() < 0.25:
            text = as_json(changed(answer, chance)).encode()
        if chance.random() < 0.08:
            text = garbled(text, chance)
        sys.stdout.buffer.write(text + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(sys.argv[1])
