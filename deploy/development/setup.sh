#!/usr/bin/env bash
# Makes Hearth's own Python environment and installs what it stands on. Safe to run again, and quick
# when nothing changed. It asks apt and pip as this machine has them set up, and nothing else.
#
#   deploy/development/setup.sh [--devices] [--check] [--broker] [--console] [--service]
#     --devices   also what the tests on simulated sound devices need
#     --check     also what `make check` needs
#     --broker    also the MQTT broker that a few tests start; without it they are skipped. Where
#                 there is systemd, Debian starts one of its own too, so nothing asks for it but CI
#     --service   also what boots a Debian for the tests of the service
#     --console   also a browser without a screen, for the tests of the console page, and the font of
#                 its pictures
#   HEARTH_PYTHON   the Python to build with (default: the first of python3, python3.13, python3.11
#                   that is 3.11 or newer)
#   HEARTH_VENV     where the environment goes (default: .venv beside the Makefile)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

VENV=${HEARTH_VENV:-.venv}
LOG=$VENV/setup.log
STAMP=$VENV/setup.stamp
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore PIP_NO_INPUT=1

say() { printf '  %s\n' "$*" >&2; }
fail() {
    printf 'Hearth is not set up: %s\n' "$*" >&2
    exit 1
}

# ---- Debian packages -------------------------------------------------------------------------

BECOME=() # what stands before a command that needs root

is_debian() { command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; }

# Whether a package, or on another system what it is for, is there.
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

# --no-remove: an installation that would take something away is refused (pulseaudio would push out
# a desktop's PipeWire packages).
apt_install() {
    "${BECOME[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install --yes --quiet --no-install-recommends --no-remove "$@"
}

have_lists() { compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null; }

# The lists are fetched when there are none, or when they turn out too old to install from.
apt_install_fresh() {
    if have_lists && apt_install "$@"; then return 0; fi
    "${BECOME[@]}" apt-get update --quiet && apt_install "$@"
}

become_root() {
    local names=$1 command=$2
    [ "$(id -u)" -ne 0 ] || return 0
    command -v sudo >/dev/null ||
        fail "the Debian packages $names are missing and there is no sudo; ask an administrator to run: $command"
    if [ -t 0 ] && [ -t 2 ]; then BECOME=(sudo); else BECOME=(sudo -n); fi
    "${BECOME[@]}" true ||
        fail "the Debian packages $names are missing and sudo refused; ask an administrator to run: $command"
}

need_packages() {
    local package missing=() command log
    for package in "$@"; do
        have "$package" || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    is_debian || fail "install what Debian calls ${missing[*]} with this system's own tools, then run this again."
    command="apt-get install --no-install-recommends ${missing[*]}"
    become_root "${missing[*]}" "$command"
    say "Debian packages: ${missing[*]}"
    log=$(mktemp)
    if ! apt_install_fresh "${missing[@]}" >"$log" 2>&1; then
        tail -n 5 "$log" >&2
        fail "apt could not install ${missing[*]} (its words are above and in $log); mend that, or ask an administrator to run: $command"
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

# Prints the Debian package that the Python to build with comes short of, if it is Debian's. Debian
# keeps the seed of a virtual environment in a package of its own for each version.
venv_package() {
    is_debian || return 0
    if find_python; then
        case $REALPATH in /usr/bin/python3.*) echo "python$VERSION-venv" ;; esac
    elif [ -z "${HEARTH_PYTHON:-}" ] && ! have python3; then
        echo python3-venv
    fi
}

choose_python() {
    hash -r # apt may have brought one since the last look
    find_python ||
        fail "${HEARTH_PYTHON:-python3} is no working Python 3.11 or newer; install one and set HEARTH_PYTHON to its path."
    "$PYTHON" -c 'import ensurepip, venv' 2>/dev/null ||
        fail "$PYTHON lacks venv or ensurepip; set HEARTH_PYTHON to a complete Python $VERSION."
}

# ---- the environment -------------------------------------------------------------------------

make_venv() {
    if [ -e "$VENV" ]; then
        [ -f "$VENV/pyvenv.cfg" ] || fail "$VENV is no virtual environment; move it away or set HEARTH_VENV."
        rm -rf -- "$VENV"
    fi
    say "Python $VERSION environment: $VENV"
    "$PYTHON" -m venv "$VENV" || fail "$PYTHON could not make $VENV (its words are above)."
}

# Turns pip's lines into one moving line on a terminal, and into a line now and then elsewhere.
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
                if [ "$count" -gt 0 ]; then say "$count packages here, installing them"; fi
                ;;
        esac
    done
    if [ -t 2 ]; then printf '\r\033[K' >&2; fi
}

pip_install() {
    if ! "$VENV/bin/python" -m pip install "$@" 2>&1 | tee -a "$LOG" | progress; then
        grep -E '^(ERROR|error)' "$LOG" | head -n 5 >&2 || true
        fail "pip could not install the Python packages (its words are in $LOG); check the network and run this again."
    fi
}

install_python_packages() {
    say "Python packages (a few minutes the first time)"
    : >"$LOG"
    pip_install --quiet --upgrade 'pip>=25.1' # the first that knows --group
    pip_install --editable . --group dev
}

# An environment is tied to its Python and to its folder (line 1 of the stamp), its content to what
# this repository asks for (line 2).
main() {
    local packages=(libportaudio2 espeak-ng flite) option place content started=$SECONDS
    for option in "$@"; do
        case $option in
            --devices) packages+=(libasound2-plugins pulseaudio pulseaudio-utils) ;;
            --check) packages+=(shellcheck) ;;
            --broker) packages+=(mosquitto) ;;
            --console) packages+=(chromium fonts-inter) ;;
            --service) packages+=(debootstrap systemd-container) ;;
            *) fail "unknown option $option; there are --devices, --check, --broker, --console and --service." ;;
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
    elif [ "${stamp[1]:-}" = "$content" ] && [ -x "$VENV/bin/hearth" ]; then
        return 0
    fi
    install_python_packages
    [ -x "$VENV/bin/hearth" ] || fail "pip installed no $VENV/bin/hearth; see $LOG."
    printf '%s\n%s\n' "$place" "$content" >"$STAMP"
    say "ready after $((SECONDS - started)) s"
}

main "$@"
