#!/usr/bin/env bash
# Puts the add-on together: a folder that goes, as it is, into /addons of a Home Assistant OS.
#
#   deploy/addon/pack.sh FOLDER
#   HEARTH_PYTHON   a Python with pip that builds the wheel (default: .venv's, else python3)
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
REPOSITORY=$(cd "$HERE/../.." && pwd)
FOLDER=${1:?usage: pack.sh FOLDER}

fail() {
    printf 'The add-on is not packed: %s\n' "$*" >&2
    exit 1
}

PYTHON=${HEARTH_PYTHON:-}
if [ -z "$PYTHON" ]; then
    PYTHON=python3
    if [ -x "$REPOSITORY/.venv/bin/python" ]; then PYTHON=$REPOSITORY/.venv/bin/python; fi
fi
if [ -e "$FOLDER" ] && [ ! -f "$FOLDER/config.yaml" ]; then fail "$FOLDER is there and is no add-on"; fi
rm -rf -- "$FOLDER"
mkdir -p "$FOLDER"
"$PYTHON" -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$FOLDER" "$REPOSITORY" ||
    fail "$PYTHON could not build the wheel"
cp -R "$HERE/config.yaml" "$HERE/Dockerfile" "$HERE/start.py" "$HERE/DOCS.md" "$HERE/translations" "$FOLDER/"
cp "$REPOSITORY/CHANGELOG.md" "$REPOSITORY/deploy/requirements.lock" "$FOLDER/"
printf 'Packed: %s. Copy this folder into /addons of your Home Assistant.\n' "$FOLDER" >&2
