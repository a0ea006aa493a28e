#!/usr/bin/env bash
# Installs Hearth as a service, or brings an installed one up to date: on Debian 12 and 13 and on
# Raspberry Pi OS, 64 bit. Safe to run again. It asks apt and pip as this machine has them set up.
#
#   deploy/install.sh [--yes] [--browser] [--source FOLDER|WHEEL] [--sha256 SUM] [--python PYTHON]
#   deploy/install.sh --uninstall [--purge] [--yes]
#     --yes         ask nothing; without it a first installation on a terminal goes on with
#                   `hearth setup`, and --uninstall asks whether you are sure
#     --browser     go on with `hearth setup --browser`, which prints a link to the first run
#     --source      what is installed (default: the repository that this script lies in)
#     --sha256      checksum of the wheel (default: its line in SHA256SUMS beside it)
#     --python      the Python that the program runs on (default: the system's, 3.11 or newer)
#     --uninstall   take away the service and the program; configuration and state stay
#     --purge       with --uninstall: these and the user `hearth` go too
#
# Exit code 0: it is done, whatever the doctor found. 1: it is not, and a sentence says why; an
# installed Hearth then runs as it did before.
set -euo pipefail
umask 022
# Python looks for modules in the current folder first. Users who can write there, as in /tmp, must not
# choose what root runs.
export PYTHONSAFEPATH=1
unset PYTHONPATH PYTHONHOME PYTHONSTARTUP
HERE=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
# shellcheck source=deploy/install/talk.sh
. "$HERE/install/talk.sh"
# shellcheck source=deploy/install/places.sh
. "$HERE/install/places.sh"
# shellcheck source=deploy/install/system.sh
. "$HERE/install/system.sh"
# shellcheck source=deploy/install/release.sh
. "$HERE/install/release.sh"
# shellcheck source=deploy/install/sound.sh
. "$HERE/install/sound.sh"
# shellcheck source=deploy/install/service.sh
. "$HERE/install/service.sh"
# shellcheck source=deploy/install/remove.sh
. "$HERE/install/remove.sh"

# shellcheck disable=SC2034  # the other parts use them
YES=no BROWSER=no UNINSTALL=no PURGE=no SOURCE='' SHA256='' PYTHON=''

usage() {
    sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" | sed '$d' >&2
    exit 1
}

read_options() {
    while [ $# -gt 0 ]; do
        case $1 in
            --yes) YES=yes ;;
            --browser) BROWSER=yes ;;
            --uninstall) UNINSTALL=yes ;;
            --purge) PURGE=yes ;;
            --source) SOURCE=${2:?--source needs a folder or a wheel} && shift ;;
            --sha256) SHA256=${2:?--sha256 needs a checksum} && shift ;;
            --python) PYTHON=${2:?--python needs a Python} && shift ;;
            *) usage ;;
        esac
        shift
    done
    [ $PURGE = no ] || [ $UNINSTALL = yes ] || usage
}

as_root() {
    [ "$(id -u)" -ne 0 ] || return 0
    command -v sudo >/dev/null || fail "installing needs root, and there is no sudo; run this script as root"
    exec sudo -- "$HERE/install.sh" "$@"
}

# Whether somebody sits there whom it may ask.
someone_there() { [ $YES = no ] && [ -t 0 ] && [ -t 2 ]; }

# One installation at a time; the lock goes with the process.
alone() {
    exec 9>"$LOCK"
    flock --nonblock 9 || fail "another installation is running; wait until it has finished"
}

install_all() {
    local started=$SECONDS fresh=no
    [ -e "$CURRENT" ] || fresh=yes
    check_system
    choose_source
    check_origin
    step "Debian packages"
    need_packages
    choose_python
    step "User and folders"
    make_user
    make_folders
    step "Program"
    make_release
    step "Sound"
    find_sound
    open_sound
    step "Service"
    bring_up
    forget_old_releases
    if [ $BROWSER = yes ]; then
        step "Setting up, in the browser"
        "$COMMAND" setup --browser --no-run </dev/null || warn "Hearth is not set up yet; run: sudo hearth setup --browser"
        # The set-up has reloaded the service already, unless it was not allowed to.
        systemctl reload hearth.service || warn "the service did not take the settings; see: journalctl -u hearth"
    elif [ "$fresh" = yes ] && someone_there; then
        step "Setting up, with you"
        "$COMMAND" setup || warn "Hearth is not set up yet; run: sudo hearth setup"
        systemctl restart hearth.service || warn "the service did not start; see: journalctl -u hearth"
    fi
    step "Checks"
    "$COMMAND" doctor </dev/null || true
    finish $((SECONDS - started))
}

finish() {
    local seconds=$1 next='hearth ask "what time is it"'
    if ! grep -qs '^ *\[home_assistant\]' "$CONFIGURATION/hearth.toml"; then next='sudo hearth setup'; fi
    good "Hearth $(release_version) is installed and runs ($seconds s). Next: $next"
}

main() {
    read_options "$@"
    as_root "$@"
    alone
    if [ $UNINSTALL = yes ]; then
        uninstall
    else
        install_all
    fi
}

main "$@"
