#!/usr/bin/env bash
# Builds the wheel, installs it into an environment of its own outside the checkout, and runs the demo
# and a typed command from there.
#
#   deploy/development/try-wheel.sh             on this machine
#   deploy/development/try-wheel.sh SUITE ...   in a fresh Debian root for each: bookworm, trixie; needs root
#   HEARTH_PYTHON   the Python to use (default: python3)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

PYTHON=${HEARTH_PYTHON:-python3}
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore PIP_NO_INPUT=1
unset PYTHONPATH PYTHONHOME

say() { printf '  %s\n' "$*" >&2; }

if [ $# -gt 0 ]; then
    for suite in "$@"; do
        deploy/development/fresh-root.sh "$suite" \
            "apt-get install -qq --no-install-recommends python3-venv flite espeak-ng >/dev/null && deploy/development/try-wheel.sh"
    done
    exit 0
fi

FOLDER=$(mktemp -d)
trap 'rm -rf -- "$FOLDER"' EXIT
"$PYTHON" -m venv "$FOLDER/build"
"$FOLDER/build/bin/python" -m pip wheel --quiet --no-deps --wheel-dir "$FOLDER" .
rm -rf -- "$FOLDER/build"
wheel=$(echo "$FOLDER"/hearth_voice-*.whl)
say "$(basename "$wheel"), $(du -k "$wheel" | cut -f1) kB"

cd "$FOLDER" # from here on, nothing comes from the checkout
started=$SECONDS
"$PYTHON" -m venv "$FOLDER/venv"
"$FOLDER/venv/bin/python" -m pip install --quiet "$wheel"
say "installed in $((SECONDS - started)) s, $(du -sm "$FOLDER/venv" | cut -f1) MB"

export HOME=$FOLDER PATH=$FOLDER/venv/bin:/usr/bin:/bin
unset HEARTH_CONFIG STATE_DIRECTORY
started=$SECONDS
hearth demo
hearth ask --config out/demo/hearth.toml "turn on the kitchen light"
say "$(hearth --version 2>/dev/null || echo hearth): demo and a typed command in $((SECONDS - started)) s"
