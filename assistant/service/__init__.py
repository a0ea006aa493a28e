"""The process under systemd: startup, reload, watchdog and retries. Start with `service`."""
