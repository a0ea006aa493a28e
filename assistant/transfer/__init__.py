"""One file with what a household would miss: settings, memory, timers, ratings, approvals."""
