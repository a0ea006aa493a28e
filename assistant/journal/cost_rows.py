"""What turns have cost, summed up in the tables."""

import sqlite3
from datetime import date
from typing import Any

# The day is that of this machine's clock, as the daily cap counts it. An hour that the clocks
# repeat or leave out changes no day.
_GROUP = (
    "date(started_at, 'localtime') AS day, "
    "COALESCE(brain, '') AS brain, COALESCE(model, '') AS model"
)
_ASKED = "started_at >= ? AND source <> 'announcement'"
_SUMS = (
    f"SELECT {_GROUP}, COUNT(*) AS turns, SUM(cost_usd) AS cost_usd, "
    "COALESCE(SUM(usage ->> '$.input_tokens'), 0) AS input_tokens, "
    "COALESCE(SUM(usage ->> '$.output_tokens'), 0) AS output_tokens "
    f"FROM turns WHERE {_ASKED} GROUP BY 1, 2, 3 "
    "ORDER BY day DESC, cost_usd DESC, turns DESC, brain, model"
)
_MODALITIES = (
    f"SELECT {_GROUP}, part.key AS modality, SUM(part.value) AS tokens "
    f"FROM turns, json_each(usage, '$.by_modality') AS part "
    f"WHERE {_ASKED} AND usage IS NOT NULL GROUP BY 1, 2, 3, 4 ORDER BY 4"
)


def costs(db: sqlite3.Connection, since: str) -> list[dict[str, Any]]:
    """The fields of `assistant.journal.audit.CostRow`, the newest day first."""
    parts: dict[tuple[str, str, str], dict[str, int]] = {}
    for row in db.execute(_MODALITIES, (since,)):
        key = (row["day"], row["brain"], row["model"])
        parts.setdefault(key, {})[row["modality"]] = row["tokens"]
    return [
        {
            **dict(row),
            "day": date.fromisoformat(row["day"]),
            "by_modality": parts.get((row["day"], row["brain"], row["model"]), {}),
        }
        for row in db.execute(_SUMS, (since,))
    ]
