#!/usr/bin/env bash
# Shows that Hearth sets itself up on an empty machine: creates a minimal Debian in a folder, clones
# this repository there and runs a command in it. Needs root. Mounts and processes end with it.
#
#   deploy/development/fresh-root.sh [--user | --no-sudo] [--working-tree] SUITE [COMMAND ...]
#     SUITE            bookworm (Debian 12, Python 3.11) or trixie (Debian 13, Python 3.13)
#     COMMAND          default: make demo
#     --user           run it as an ordinary user with sudo (default: as root)
#     --no-sudo        run it as an ordinary user on a machine without sudo
#     --working-tree   copy the work tree as it is, instead of cloning the last commit
#   HEARTH_ROOTS    the folder of the roots (default: /var/tmp/hearth-roots)
#   HEARTH_SHARED   the folder with recordings for the tests (default: ../shared, if there is one)
set -euo pipefail

# In a mount and process namespace of its own, so that all mounts and processes end with the script.
if [ "${1:-}" != --inside ]; then
    exec unshare --mount --pid --fork --kill-child --mount-proc -- "${BASH_SOURCE[0]}" --inside "$@"
fi
shift
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

usage() {
    sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
}
say() { printf '[%4d s] %s\n' "$SECONDS" "$*" >&2; }

WHO=root SUDO=no SOURCE=commit
while [ $# -gt 0 ]; do
    case $1 in
        --user) WHO=hearth SUDO=yes ;;
        --no-sudo) WHO=hearth ;;
        --working-tree) SOURCE=tree ;;
        bookworm | trixie) break ;;
        *) usage ;;
    esac
    shift
done
[ $# -gt 0 ] || usage
SUITE=$1
shift
[ $# -gt 0 ] || set -- make demo

ROOTS=${HEARTH_ROOTS:-/var/tmp/hearth-roots}
SHARED=${HEARTH_SHARED:-$PWD/../shared}
BASE=$ROOTS/$SUITE.base ROOT=$ROOTS/$SUITE
if [ "$WHO" = root ]; then HOME_IN=/root; else HOME_IN=/home/$WHO; fi

in_root() {
    chroot "$ROOT" env -i HOME=/root LANG=C.UTF-8 TERM="${TERM:-dumb}" DEBIAN_FRONTEND=noninteractive \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

# Creates the minimal Debian, from the mirror of this machine's apt, and keeps it for the next run.
make_base() {
    [ ! -f "$BASE/etc/hearth-base" ] || return 0
    command -v debootstrap >/dev/null || { apt-get update -q && apt-get install -y -q debootstrap; } >/dev/null
    local mirror script=/usr/share/debootstrap/scripts/$SUITE
    # shellcheck disable=SC2016  # $(SITE) is apt's own field
    mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep -E '/debian/?$' | head -n 1)
    [ -n "$mirror" ] || { echo "apt's configuration names no Debian mirror." >&2; exit 1; }
    [ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid
    rm -rf --one-file-system -- "$BASE"
    mkdir -p "$ROOTS"
    debootstrap --variant=minbase "$SUITE" "$BASE" "$mirror" "$script" >"$ROOTS/$SUITE.debootstrap.log" 2>&1 ||
        { tail -n 5 "$ROOTS/$SUITE.debootstrap.log" >&2; exit 1; }
    touch "$BASE/etc/hearth-base"
    say "Debian $SUITE is there"
}

# Copies what belongs to this machine's network: host names, certificates, pip's settings.
lend_network() {
    cp /etc/resolv.conf /etc/hosts "$ROOT/etc/"
    mkdir -p "$ROOT/etc/ssl/certs"
    cp /etc/ssl/certs/ca-certificates.crt "$ROOT/etc/ssl/certs/"
    if [ -f /etc/pip.conf ]; then cp /etc/pip.conf "$ROOT/etc/"; fi
}

make_root() {
    rm -rf --one-file-system -- "$ROOT"
    cp -a --reflink=auto "$BASE" "$ROOT"
    mount -t proc proc "$ROOT/proc"
    mkdir -p "$ROOT/dev/shm"
    mount -t tmpfs tmpfs "$ROOT/dev/shm"
    lend_network
    # The README asks for these first.
    in_root apt-get update -q >"$ROOT.apt.log" 2>&1
    in_root apt-get install -y -q git make >>"$ROOT.apt.log" 2>&1
    lend_network # installing the certificates rewrote the bundle
    if [ "$WHO" != root ]; then
        in_root useradd --create-home --shell /bin/bash "$WHO"
        if [ $SUDO = yes ]; then
            in_root apt-get install -y -q sudo >>"$ROOT.apt.log" 2>&1
            echo "$WHO ALL=(ALL) NOPASSWD: ALL" >"$ROOT/etc/sudoers.d/$WHO"
        fi
    fi
    say "git and make are there"
}

put_source() {
    local target=$ROOT$HOME_IN/hearth
    if [ "$SOURCE" = tree ]; then
        mkdir "$target"
        git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$target"
    else
        git clone --quiet --no-hardlinks . "$target"
    fi
    if [ -d "$SHARED" ]; then
        mkdir "$ROOT$HOME_IN/shared"
        mount --bind "$SHARED" "$ROOT$HOME_IN/shared"
        mount -o remount,bind,ro "$ROOT$HOME_IN/shared"
    fi
    chroot "$ROOT" chown -R "$WHO:" "$HOME_IN/hearth"
}

make_base
make_root
put_source
started=$SECONDS rc=0
say "$WHO runs: $*"
in_root su "$WHO" -c "cd $HOME_IN/hearth && $*" </dev/null || rc=$?
say "exit code $rc after $((SECONDS - started)) s; the root takes $(du -shx "$ROOT" | cut -f1), its .venv $(du -shx "$ROOT$HOME_IN/hearth/.venv" 2>/dev/null | cut -f1)"
exit "$rc"
