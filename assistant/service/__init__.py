"""The process under systemd: startup, reload, watchdog and retries. Begin with `service`."""
