"""Numbers for Prometheus: `measures` collects, `page` prints."""
