#!/usr/bin/env bash
# Pins, audits and lists the packages that Hearth is built from.
#
#   deploy/development/supply.sh lock     pins every package with its hashes in deploy/*.lock
#   deploy/development/supply.sh audit    looks the pinned packages up in databases of vulnerabilities
#   deploy/development/supply.sh sbom [FILE]   writes a list of them (CycloneDX; default dist/hearth.cdx.json)
#   HEARTH_VENV   the folder of the environment (default: .venv); the tools get their own one inside
#
# Exit code 3 of `audit`: no database could be reached, so nothing was audited.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

VENV=${HEARTH_VENV:-.venv}
TOOLS=$VENV/supply
RUNTIME=deploy/requirements.lock
BUILD=deploy/requirements-build.lock
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1

fail() {
    printf '%s\n' "$1" >&2
    exit "${2:-1}"
}

# Installs the tools, which are not part of Hearth's own environment.
need_tools() {
    local wanted
    wanted=$(sed -n '/^supply = \[/,/^\]/p' pyproject.toml)
    if [ "$(cat "$TOOLS/stamp" 2>/dev/null)" != "$wanted" ]; then
        "$VENV/bin/python" -m venv --clear "$TOOLS"
        "$TOOLS/bin/python" -m pip install --quiet --upgrade 'pip>=25.1'
        "$TOOLS/bin/python" -m pip install --quiet --group supply
        printf '%s' "$wanted" >"$TOOLS/stamp"
    fi
}

# pin FILE ARGUMENT...: compiles FILE for Python 3.11 to 3.13 on every architecture.
pin() {
    local file=$1
    shift
    {
        printf '# Written by "make lock" from pyproject.toml. All of it has wheels for x86_64 and aarch64.\n'
        "$TOOLS/bin/uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes \
            --only-binary :all: --no-header --no-annotate "$@"
    } >"$file.new"
    mv "$file.new" "$file"
    printf '%s: %s packages\n' "$file" "$(grep -c '==' "$file")" >&2
}

lock() {
    pin $RUNTIME --extra all pyproject.toml
    printf '%s\n' "$BUILD_REQUIRES" | pin $BUILD -
}

# The tool reports success even if it has skipped every package because no database answered. So
# audited.py counts the packages that were really looked up.
audit() {
    local service found
    for service in pypi osv; do
        found=$("$TOOLS/bin/pip-audit" --requirement $RUNTIME --require-hashes --disable-pip --format json \
            --vulnerability-service $service --progress-spinner off 2>/dev/null) || true
        "$VENV/bin/python" deploy/development/audited.py "$service" <<<"$found" && return
        [ $? -eq 3 ] || return 1
    done
    fail "Nothing was audited: no database of vulnerabilities could be reached. Check the network." 3
}

sbom() {
    local file=${1:-dist/hearth.cdx.json}
    mkdir -p "$(dirname "$file")"
    PYTHONWARNINGS=ignore "$TOOLS/bin/cyclonedx-py" requirements --pyproject pyproject.toml --output-reproducible \
        --output-format JSON --output-file "$file" $RUNTIME
    printf '%s\n' "$file" >&2
}

[ -x "$VENV/bin/python" ] || fail "There is no $VENV: run make setup first."
BUILD_REQUIRES=$("$VENV/bin/python" -c '
import tomllib
print("\n".join(tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"]))')
case ${1:-} in
    lock | audit | sbom) need_tools && "$@" ;;
    *) fail "usage: supply.sh lock | audit | sbom [FILE]" 2 ;;
esac
