"""Backup and restore of a device's settings and data. Start with `contents` and `bring`."""
