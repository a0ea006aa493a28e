"""One process under systemd: start, reload, watchdog and supervised retries. Begin with
`service`."""
