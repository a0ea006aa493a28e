#!/usr/bin/env bash
# A Debian in a folder, with the Python that a Home Assistant release needs. Needs root.
#
#   debian.sh make ROOT SUITE      makes it; does nothing where it is complete
#   debian.sh run ROOT [FROM:TO ...] -- COMMAND ...
#       becomes COMMAND, in the root; each FROM of the machine is seen at TO in it
#   HA_MIRROR   Debian's mirror (default: the one this machine's own apt uses)
set -euo pipefail

# What Home Assistant stands on, a compiler for two wheels that the registry lacks, a broker, and
# what makes PCM of its announcements for a Wyoming satellite.
PACKAGES=python3,python3-venv,ca-certificates,g++,libpython3-dev,libturbojpeg0,mosquitto,ffmpeg

fail() {
    printf '%s\n' "$*" >&2
    exit 1
}

mirror() {
    # shellcheck disable=SC2016  # $(SITE) is apt's own field
    apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep -E '/debian/?$' | head -n 1
}

install_debootstrap() {
    apt-get update -q &&
        DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends debootstrap
}

make_root() {
    local root=$1 suite=$2 log=$1.log script=/usr/share/debootstrap/scripts/$2 from=${HA_MIRROR:-}
    if [ -f "$root/etc/hearth-complete" ]; then
        add_packages "$root"
        return
    fi
    command -v debootstrap >/dev/null || install_debootstrap >"$log" 2>&1 ||
        fail "apt could not install debootstrap; its words are in $log"
    [ -n "$from" ] || from=$(mirror) || fail "apt's configuration names no Debian mirror; set HA_MIRROR to one"
    # an older debootstrap does not know the names of newer releases
    [ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid
    rm -rf --one-file-system -- "$root"
    debootstrap --variant=minbase --include="$PACKAGES" "$suite" "$root" "$from" "$script" >"$log" 2>&1 ||
        fail "debootstrap could not make a Debian $suite; its words are in $log"
    rm -f "$root"/var/cache/apt/archives/*.deb
    echo "$PACKAGES" >"$root/etc/hearth-complete"
}

# A root that was made before one of them was needed; its lists may have expired since.
add_packages() {
    local root=$1 log=$1.log
    [ "$(cat "$root/etc/hearth-complete")" != "$PACKAGES" ] || return 0
    "${BASH_SOURCE[0]}" run "$root" -- sh -c "apt-get -q -o Acquire::Check-Valid-Until=false update &&
        DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends ${PACKAGES//,/ } &&
        apt-get clean" >"$log" 2>&1 || fail "apt could not add to $root; its words are in $log"
    echo "$PACKAGES" >"$root/etc/hearth-complete"
}

# What belongs to this machine's network and not to Debian: names, certificates, pip's settings.
lend_network() {
    cp /etc/resolv.conf /etc/hosts "$1/etc/"
    if [ -f /etc/ssl/certs/ca-certificates.crt ]; then
        cp /etc/ssl/certs/ca-certificates.crt "$1/etc/ssl/certs/"
    fi
    if [ -f /etc/pip.conf ]; then cp /etc/pip.conf "$1/etc/"; fi
}

# Runs in a mount namespace of its own, so that nothing stays mounted, however the command ends.
inside() {
    local root=$1
    shift
    mount -t proc proc "$root/proc"
    mount --bind /dev "$root/dev"
    while [ "$1" != -- ]; do
        mkdir -p "$root${1#*:}"
        mount --bind "${1%%:*}" "$root${1#*:}"
        shift
    done
    shift
    exec chroot "$root" env -i HOME=/root LANG=C.UTF-8 PYTHONUNBUFFERED=1 \
        SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt UV_NO_CACHE=1 UV_HTTP_TIMEOUT=180 \
        PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore \
        PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

case ${1:-} in
    make) make_root "$2" "$3" && lend_network "$2" ;;
    run)
        shift
        # where the machine is itself a folder that was changed into, its root cannot be made private
        private=(--propagation private)
        unshare --mount -- true 2>/dev/null || private=(--propagation unchanged)
        exec unshare --mount "${private[@]}" -- "${BASH_SOURCE[0]}" inside "$@"
        ;;
    inside)
        shift
        inside "$@"
        ;;
    *) fail "usage: debian.sh make ROOT SUITE | run ROOT [FROM:TO ...] -- COMMAND ..." ;;
esac
