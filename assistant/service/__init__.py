"""One process under systemd: start, reload, watchdog, supervised retry; begin with `service`."""
