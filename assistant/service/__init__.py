"""Hearth as a service of systemd: it tells how it stands, is watched, and takes up new settings."""
