#!/usr/bin/env bash
# Checks deploy/hearth.service with systemd's own tools, if they are installed. systemd need not run.
#
#   deploy/development/check-unit.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

EXPOSURE=25 # the highest exposure allowed, in tenths of systemd's own scale

if ! command -v systemd-analyze >/dev/null; then
    echo 'hearth.service was not checked: there is no systemd-analyze' >&2
    exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
# The programs need not be installed here.
sed -E 's#^(Exec[A-Za-z]*=)/opt/hearth/[^ ]*#\1/bin/true#' deploy/hearth.service >"$folder/hearth.service"
words=$(systemd-analyze verify "$folder/hearth.service" 2>&1) || true
if [ -n "$words" ]; then
    printf '%s\n' "$words" >&2
    exit 1
fi
systemd-analyze security --offline=true --no-pager --threshold=$EXPOSURE "$folder/hearth.service" |
    tail -n 1
