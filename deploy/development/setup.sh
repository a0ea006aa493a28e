#!/usr/bin/env bash
# Creates a Python environment for Hearth and installs what it needs. You can run it again at any time;
# it is quick if nothing has changed. It uses apt and pip as they are set up on this machine.
#
#   deploy/development/setup.sh [--demo] [--devices] [--check] [--broker] [--console] [--service]
#     --demo      install only what the demo needs: no tests, no Piper voices, no Gemini. An environment
#                 that has more keeps it
#     --devices   install what the tests on simulated sound devices need, too
#     --check     install what `make check` needs, too
#     --broker    install the MQTT broker that a few tests start, too; without it, they are skipped.
#                 Debian also starts a broker of its own under systemd, so only CI asks for this
#     --service   install what boots a Debian for the tests of the service, too
#     --console   install a browser and the font of its pictures for the tests of the console, too
#   HEARTH_PYTHON   the Python to use (default: the first of python3, python3.13, python3.11 that is
#                   3.11 or newer)
#   HEARTH_VENV     the folder of the environment (default: .venv beside the Makefile)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

VENV=${HEARTH_VENV:-.venv}
LOG=$VENV/setup.log
STAMP=$VENV/setup.stamp
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore PIP_NO_INPUT=1

say() { printf '  %s\n' "$*" >&2; }
fail() {
    printf 'Could not set Hearth up: %s\n' "$*" >&2
    exit 1
}

# ---- Debian packages -------------------------------------------------------------------------

BECOME=() # the prefix of a command that needs root

is_debian() { command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; }

# Returns 0 if a package is installed, or on another system what it is for.
have() {
    if is_debian; then
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
        return
    fi
    case $1 in
        libportaudio2) /sbin/ldconfig -p 2>/dev/null | grep -q 'libportaudio\.so\.2' ;;
        libasound2-plugins) find /usr/lib* -name libasound_module_pcm_pulse.so 2>/dev/null | grep -q . ;;
        pulseaudio-utils) command -v paplay >/dev/null && command -v parecord >/dev/null ;;
        *) command -v "$1" >/dev/null ;;
    esac
}

# --no-remove: refuse an installation that would remove something (pulseaudio would replace a
# desktop's PipeWire packages).
apt_install() {
    "${BECOME[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install --yes --quiet --no-install-recommends --no-remove "$@"
}

have_lists() { compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null; }

# Fetches the package lists if there are none, or if they are too old to install from.
apt_install_fresh() {
    if have_lists && apt_install "$@"; then return 0; fi
    "${BECOME[@]}" apt-get update --quiet && apt_install "$@"
}

become_root() {
    local names=$1 command=$2
    [ "$(id -u)" -ne 0 ] || return 0
    command -v sudo >/dev/null ||
        fail "the Debian packages $names are missing, and there is no sudo. Ask an administrator to run: $command"
    if [ -t 0 ] && [ -t 2 ]; then BECOME=(sudo); else BECOME=(sudo -n); fi
    "${BECOME[@]}" true ||
        fail "the Debian packages $names are missing, and sudo refused. Ask an administrator to run: $command"
}

need_packages() {
    local package missing=() command log
    for package in "$@"; do
        have "$package" || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    is_debian || fail "install ${missing[*]} (Debian's names) with this system's package manager, then run this again."
    command="apt-get install --no-install-recommends ${missing[*]}"
    become_root "${missing[*]}" "$command"
    say "Debian packages: ${missing[*]}"
    log=$(mktemp)
    if ! apt_install_fresh "${missing[@]}" >"$log" 2>&1; then
        tail -n 5 "$log" >&2
        fail "apt could not install ${missing[*]} (its output is above and in $log). Fix that, or ask an administrator to run: $command"
    fi
    rm -f "$log"
}

# ---- the interpreter -------------------------------------------------------------------------

# Sets PYTHON, VERSION ("3.11") and REALPATH to the Python to build with.
find_python() {
    local candidate facts candidates=(python3 python3.13 python3.11)
    if [ -n "${HEARTH_PYTHON:-}" ]; then candidates=("$HEARTH_PYTHON"); fi
    for candidate in "${candidates[@]}"; do
        facts=$("$candidate" -c 'import os, sys
assert sys.version_info >= (3, 11)
print("%d.%d" % sys.version_info[:2], os.path.realpath(sys.executable))' 2>/dev/null) || continue
        PYTHON=$candidate
        read -r VERSION REALPATH <<<"$facts"
        return 0
    done
    return 1
}

# Prints the Debian package with venv for the Python to use, if that is Debian's. Debian has one such
# package per Python version.
venv_package() {
    is_debian || return 0
    if find_python; then
        case $REALPATH in /usr/bin/python3.*) echo "python$VERSION-venv" ;; esac
    elif [ -z "${HEARTH_PYTHON:-}" ] && ! have python3; then
        echo python3-venv
    fi
}

choose_python() {
    hash -r # apt may have installed one since
    find_python ||
        fail "${HEARTH_PYTHON:-python3} is not a working Python 3.11 or newer. Install one and set HEARTH_PYTHON to its path."
    "$PYTHON" -c 'import ensurepip, venv' 2>/dev/null ||
        fail "$PYTHON has no venv or ensurepip. Set HEARTH_PYTHON to a complete Python $VERSION."
}

# ---- the environment -------------------------------------------------------------------------

make_venv() {
    if [ -e "$VENV" ]; then
        [ -f "$VENV/pyvenv.cfg" ] || fail "$VENV is not a virtual environment. Move it away, or set HEARTH_VENV to another folder."
        rm -rf -- "$VENV"
    fi
    say "Python $VERSION environment: $VENV"
    "$PYTHON" -m venv "$VENV" || fail "$PYTHON could not create $VENV (its output is above)."
}

# Shows pip's progress as one changing line on a terminal, and as an occasional line elsewhere.
progress() {
    local line name count=0
    while IFS= read -r line; do
        case $line in
            Collecting\ * | Processing\ *) # from an index, or from a folder of wheels
                count=$((count + 1))
                name=${line#* }
                name=${name##*/}
                if [ -t 2 ]; then
                    printf '\r\033[K  %3d  %s' "$count" "${name%% *}" >&2
                elif [ $((count % 40)) -eq 0 ]; then
                    say "$count found"
                fi
                ;;
            Installing\ collected*)
                if [ -t 2 ]; then printf '\r\033[K' >&2; fi
                if [ "$count" -gt 0 ]; then say "$count packages downloaded, installing them"; fi
                ;;
        esac
    done
    if [ -t 2 ]; then printf '\r\033[K' >&2; fi
}

pip_install() {
    if ! "$VENV/bin/python" -m pip install "$@" 2>&1 | tee -a "$LOG" | progress; then
        grep -E '^(ERROR|error)' "$LOG" | head -n 5 >&2 || true
        fail "pip could not install the Python packages (its output is in $LOG). Check the network and run this again."
    fi
}

# install_python_packages demo|development: what is installed beyond Hearth's own dependencies.
install_python_packages() {
    say "Python packages (about a minute the first time)"
    : >"$LOG"
    if [ "$1" = demo ]; then
        pip_install --editable .
    else
        pip_install --quiet --upgrade 'pip>=25.1' # the first that knows --group
        pip_install --editable '.[all]' --group dev
    fi
}

# The stamp has three lines: the environment's Python and folder, what this repository asks for, and
# which of the two sets is installed.
main() {
    local packages=(libportaudio2 espeak-ng flite) option place content level=development started=$SECONDS
    for option in "$@"; do
        case $option in
            --demo) level=demo ;;
            --devices) packages+=(libasound2-plugins pulseaudio pulseaudio-utils) ;;
            --check) packages+=(shellcheck) ;;
            --broker) packages+=(mosquitto) ;;
            --console) packages+=(chromium fonts-inter) ;;
            --service) packages+=(debootstrap systemd-container) ;;
            *) fail "there is no option $option. Use --demo, --devices, --check, --broker, --console or --service." ;;
        esac
    done
    mapfile -t -O "${#packages[@]}" packages < <(venv_package)
    need_packages "${packages[@]}"
    choose_python
    place="$VERSION $REALPATH $PWD"
    content=$(sha256sum pyproject.toml deploy/development/setup.sh | sha256sum)
    local stamp=()
    if [ -f "$STAMP" ]; then mapfile -t stamp <"$STAMP"; fi
    if [ "${stamp[0]:-}" != "$place" ] || ! "$VENV/bin/python" -c 'import pip' 2>/dev/null; then
        make_venv
        echo "$place" >"$STAMP"
    else
        # What is there stays: the demo must not make the tests' environment smaller.
        if [ "${stamp[2]:-}" = development ]; then level=development; fi
        if [ "${stamp[1]:-}" = "$content" ] && [ "${stamp[2]:-}" = $level ] && [ -x "$VENV/bin/hearth" ]; then
            return 0
        fi
    fi
    install_python_packages $level
    [ -x "$VENV/bin/hearth" ] || fail "pip did not install $VENV/bin/hearth; see $LOG."
    printf '%s\n%s\n%s\n' "$place" "$content" "$level" >"$STAMP"
    say "ready after $((SECONDS - started)) s"
}

main "$@"
