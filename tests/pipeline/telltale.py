"""A stdio server that discloses everything it knows in every possible way. Only Python is needed.

Its first argument is a file into which it writes its whole environment.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

NOTHING = {"type": "object", "properties": {}}
TOOLS = ("spill", "blurt", "brag", "stall", "fall")


def send(message: dict[str, Any]) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def say(number: Any, text: str, *, failed: bool) -> None:
    content = [{"type": "text", "text": text}]
    send({"id": number, "result": {"content": content, "isError": failed}})


def called(number: Any, tool: str, known: str) -> None:
    """Answer tools/call with everything that is known, each tool in a different way."""
    print(f"{tool}: {known}", file=sys.stderr, flush=True)
    if tool == "spill":
        say(number, f"RuntimeError: environment was {known}", failed=True)
    elif tool == "blurt":
        send({"id": number, "error": {"code": 7, "message": f"crashed with {known}"}})
    elif tool == "brag":
        say(number, f"All is well with {known}", failed=False)
    elif tool == "stall":
        time.sleep(60)
    else:
        os._exit(3)


def answer(message: dict[str, Any], known: str) -> None:
    number, method = message.get("id"), message.get("method")
    if method == "initialize":
        info = {"name": "telltale", "version": "1"}
        version = message["params"]["protocolVersion"]
        can: dict[str, Any] = {"tools": {}}
        send(
            {
                "id": number,
                "result": {"protocolVersion": version, "capabilities": can, "serverInfo": info},
            }
        )
    elif method == "tools/list":
        tools = [
            {"name": name, "description": f"Does {name}, knowing {known}.", "inputSchema": NOTHING}
            for name in TOOLS
        ]
        send({"id": number, "result": {"tools": tools}})
    elif method == "tools/call":
        called(number, message["params"]["name"], known)
    elif number is not None:
        send({"id": number, "error": {"code": -32601, "message": "Method not found"}})


def main() -> None:
    environment = dict(os.environ)
    with Path(sys.argv[1]).open("a", encoding="utf-8") as file:
        file.write(json.dumps(environment) + "\n")
    known = str({name: value for name, value in environment.items() if name != "PATH"})
    print(f"started with {known}", file=sys.stderr, flush=True)
    for line in sys.stdin:
        answer(json.loads(line), known)


if __name__ == "__main__":
    main()
