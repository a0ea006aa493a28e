#!/usr/bin/env bash
# Checks deploy/hearth.service by systemd's own tools, where they are; needs no running systemd.
#
#   deploy/development/check-unit.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

EXPOSURE=25 # at most, in tenths, as systemd counts it

if ! command -v systemd-analyze >/dev/null; then
    echo 'hearth.service is not checked: there is no systemd-analyze' >&2
    exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
# Programs that are not installed here are no mistake.
sed -E 's#^(Exec[A-Za-z]*=)/opt/hearth/[^ ]*#\1/bin/true#' deploy/hearth.service >"$folder/hearth.service"
words=$(systemd-analyze verify "$folder/hearth.service" 2>&1) || true
if [ -n "$words" ]; then
    printf '%s\n' "$words" >&2
    exit 1
fi
systemd-analyze security --offline=true --no-pager --threshold=$EXPOSURE "$folder/hearth.service" |
    tail -n 1
