#!/usr/bin/env bash
# Installs the tool servers that Hearth is tested with, from npm and PyPI, into one folder. You can run
# it again at any time. Needs npm (Node.js 20 or newer) and Python with venv.
#
#   deploy/development/mcp-servers.sh FOLDER
#   HEARTH_PYTHON   the Python to use (default: python3)
set -euo pipefail

FOLDER=${1:?usage: mcp-servers.sh FOLDER}
PYTHON=${HEARTH_PYTHON:-python3}
NPM=(
    @modelcontextprotocol/server-sequential-thinking@2026.8.31
    @modelcontextprotocol/server-filesystem@2026.8.31
    @modelcontextprotocol/server-memory@2026.8.31
)
PYPI=(
    mcp-server-time==2026.10.19
    mcp-server-fetch==2026.10.24
)

fail() {
    printf 'Could not install the tool servers: %s\n' "$*" >&2
    exit 1
}

command -v npm >/dev/null || fail "there is no npm: install Node.js (on Debian: apt-get install npm)"
command -v "$PYTHON" >/dev/null || fail "there is no $PYTHON"

WANTED="${NPM[*]} ${PYPI[*]}"
STAMP=$FOLDER/installed
if [ -f "$STAMP" ] && [ "$(cat "$STAMP")" = "$WANTED" ]; then exit 0; fi
mkdir -p "$FOLDER"
rm -f "$STAMP"
npm install --prefix "$FOLDER" --no-audit --no-fund --ignore-scripts --loglevel=error "${NPM[@]}" \
    >"$FOLDER/install.log" 2>&1 || fail "npm failed, see $FOLDER/install.log"
"$PYTHON" -m venv "$FOLDER/python" || fail "$PYTHON -m venv failed"
"$FOLDER/python/bin/python" -m pip install --quiet --disable-pip-version-check "${PYPI[@]}" \
    >>"$FOLDER/install.log" 2>&1 || fail "pip failed, see $FOLDER/install.log"
printf '%s' "$WANTED" >"$STAMP"
