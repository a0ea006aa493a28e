# shellcheck shell=bash
# The machine: what it must be, Debian packages, the user and the folders.

# What the program needs of the system: PortAudio, ALSA's way to a sound server, the plain voice.
PACKAGES=(ca-certificates libportaudio2 libasound2-plugins espeak-ng)

# The value of a key of os-release.
os_release() { sed -n "s/^$1=//p" /etc/os-release | tr -d '"'; }

check_system() {
    local id release machine
    id=$(os_release ID) release=$(os_release VERSION_ID) machine=$(dpkg --print-architecture 2>/dev/null || uname -m)
    case $id:${release:-0} in
        debian:12 | debian:13) ;;
        raspbian:*) fail "this is a 32-bit Raspberry Pi OS; write the 64-bit one to the card" ;;
        *) fail "this is $(os_release PRETTY_NAME); the installer supports Debian 12 and 13 and Raspberry Pi OS; elsewhere use deploy/container" ;;
    esac
    case $machine in
        amd64 | arm64) ;;
        *) fail "this system is $machine; Hearth needs a 64-bit one (arm64 or amd64)" ;;
    esac
    [ -d /run/systemd/system ] || fail "systemd is not running; in a container use deploy/container"
    [ "$(df --output=avail -k /opt 2>/dev/null | tail -n 1)" -gt 1200000 ] ||
        fail "/opt has less than 1.2 GB free; free some space first"
}

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# --no-remove: what would take something away is refused.
apt_install() {
    DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet --no-install-recommends --no-remove \
        -o DPkg::Lock::Timeout=300 "$@" >>"$LOG" 2>&1
}

need_packages() {
    local package missing=()
    if [ -z "$PYTHON" ]; then PACKAGES+=(python3 python3-venv); fi
    for package in "${PACKAGES[@]}"; do
        installed "$package" || missing+=("$package")
    done
    if [ ${#missing[@]} -eq 0 ]; then
        say "already installed"
        return
    fi
    say "${missing[*]}"
    : >>"$LOG"
    # The lists are fetched when there are none, or when they turn out too old to install from.
    if ! { compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null && apt_install "${missing[@]}"; } &&
        ! { apt-get update --quiet >>"$LOG" 2>&1 && apt_install "${missing[@]}"; }; then
        last_words "$LOG"
        fail "apt could not install ${missing[*]}; fix what it reports, then run this again"
    fi
    NEW_PACKAGES=("${missing[@]}")
}

choose_python() {
    PYTHON=$(command -v "${PYTHON:-/usr/bin/python3}") || fail "there is no ${PYTHON:-python3}"
    [ "$("$PYTHON" -c 'import sys, ensurepip, venv; print(sys.version_info >= (3, 11))' 2>/dev/null)" = True ] ||
        fail "$PYTHON is not a complete Python 3.11 or later; name another with --python"
}

make_user() {
    if ! getent passwd hearth >/dev/null; then
        useradd --system --user-group --home-dir "$STATE" --no-create-home \
            --shell /usr/sbin/nologin --comment 'Hearth' hearth
        say "user hearth"
    fi
    usermod --append --groups audio hearth
}

make_folders() {
    # The service's user owns its configuration, since `hearth setup` runs as this user; for the
    # service itself /etc is read-only.
    install -d -m 0750 -o hearth -g hearth "$CONFIGURATION"
    install -d -m 0700 -o hearth -g hearth "$STATE"
    install -d -m 0755 "$HOUSE" "$RELEASES" "$OWN"
    if [ ! -e "$CONFIGURATION/hearth.toml" ]; then
        # Not by `>`: in a folder that is the service's user's it may be a link to anywhere.
        first_configuration | install -m 0640 -o hearth -g hearth /dev/stdin "$CONFIGURATION/hearth.toml"
        say "configuration: $CONFIGURATION/hearth.toml"
    fi
    chown --no-dereference --recursive hearth:hearth "$CONFIGURATION"
    if [ ${#NEW_PACKAGES[@]} -gt 0 ]; then
        printf '%s\n' "${NEW_PACKAGES[@]}" >>"$OWN/packages"
    fi
    keep_installer
    put_command
}
NEW_PACKAGES=()

first_configuration() {
    cat <<'END'
# Hearth's configuration. `sudo hearth setup` writes it with you; every key stands in
# docs/configuration.md. After a change: sudo systemctl reload hearth
END
}

# So that --uninstall works when the repository is gone.
keep_installer() {
    [ "$HERE" != "$OWN" ] || return 0
    install -d "$OWN/install"
    install -m 0755 "$HERE/install.sh" "$OWN/install.sh"
    install -m 0644 "$HERE"/install/* "$OWN/install/"
    install -m 0644 "$HERE/hearth.service" "$HERE"/*.lock "$OWN/"
}

put_command() {
    cat >"$COMMAND.new" <<END
#!/bin/sh
# $MARK. Runs hearth as the service's user, with its folders and its way to sound.
if [ "\$(id -un)" = hearth ]; then
    export HOME=$STATE STATE_DIRECTORY=$STATE HEARTH_CONFIG="\${HEARTH_CONFIG:-$CONFIGURATION/hearth.toml}"
    unset XDG_RUNTIME_DIR XDG_CONFIG_HOME XDG_STATE_HOME XDG_CACHE_HOME DBUS_SESSION_BUS_ADDRESS
    if [ -r $SOUND_ENV ]; then
        set -a
        . $SOUND_ENV
    fi
    exec $CURRENT/bin/hearth "\$@"
fi
if [ "\$(id -u)" -eq 0 ]; then exec runuser -u hearth -- "\$0" "\$@"; fi
exec sudo -- "\$0" "\$@"
END
    chmod 0755 "$COMMAND.new"
    mv "$COMMAND.new" "$COMMAND"
}
