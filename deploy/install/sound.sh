# shellcheck shell=bash
# The service's way to sound: found out, opened, and proved with the service's own limits.
#
# A sound server of a person's session (PipeWire, PulseAudio) has its socket in a folder that nobody
# else may enter, and that the service does not even see. So it opens a second one in
# /run/hearth-sound, which that person and the group hearth may enter. Without a server ALSA is
# shared by its own mixing, and the group audio is all that it takes.

SOUND=none         # session | system | alsa | none
SOUND_USER=''      # whose session
# shellcheck disable=SC2034  # service.sh asks
SOUND_CHANGED=no   # yes: the service has to be restarted for it

find_sound() {
    local folder uid
    for folder in /run/user/*; do
        uid=${folder##*/}
        if [ "$uid" -ge 1000 ] 2>/dev/null && [ "$uid" -lt 60000 ] && [ -S "$folder/pulse/native" ]; then
            SOUND=session SOUND_USER=$(id -nu "$uid")
            break
        fi
    done
    if [ $SOUND = none ]; then find_session_of_before; fi
    if [ $SOUND = none ] && [ -S /run/pulse/native ] && getent group pulse-access >/dev/null; then SOUND=system; fi
    if [ $SOUND = none ] && grep -q '^ *[0-9]' "$CARDS/cards" 2>/dev/null; then SOUND=alsa; fi
    # An asound.conf of somebody's own may lead anywhere, and means that there is something.
    if [ $SOUND = none ] && [ -e "$SOUND_ALSA" ] && ! grep -q "$MARK" "$SOUND_ALSA"; then SOUND=alsa; fi
}

# Nobody may be logged in just now where somebody's session was the way at the last installation.
find_session_of_before() {
    local user
    user=$(door_user)
    if [ -n "$user" ] && getent passwd "$user" >/dev/null &&
        { command -v pipewire-pulse || command -v pulseaudio; } >/dev/null; then
        SOUND=session SOUND_USER=$user
    fi
}

# Print the user whose sound server has a second socket for the service, if any.
door_user() { sed -n 's/^d [^ ]* [0-9]* \([^ ]*\) .*/\1/p' "$SOUND_TMPFILES" 2>/dev/null || true; }

open_sound() {
    if [ $SOUND != session ]; then drop_ours "$SOUND_TMPFILES" "$SOUND_PIPEWIRE" "$SOUND_PULSEAUDIO"; fi
    if [ $SOUND != alsa ]; then drop_ours "$SOUND_ALSA"; fi
    case $SOUND in
        session)
            say "the sound server of $SOUND_USER's session; it opens $SOUND_DOOR/native for Hearth"
            open_session
            sound_settings "PULSE_SERVER=unix:$SOUND_DOOR/native"
            ;;
        system)
            say "the system's sound server; Hearth joins the group pulse-access"
            usermod --append --groups pulse-access hearth
            sound_settings PULSE_SERVER=unix:/run/pulse/native
            ;;
        alsa)
            share_alsa
            sound_settings
            ;;
        none)
            warn "no sound server and no sound card: Hearth will look for them, and take typed commands until then"
            sound_settings
            ;;
    esac
}

# sound_settings [NAME=VALUE]: how the service, and the command `hearth`, find the sound server.
sound_settings() {
    local new
    new=$(mktemp)
    {
        echo "# $MARK: the service's way to sound ($SOUND). Run it again if that has changed."
        echo "[Service]"
        if [ $# -gt 0 ]; then echo "Environment=$1"; fi
        # dmix and dsnoop share memory with the other programs that play and record.
        if [ $SOUND = alsa ]; then printf '%s\n' PrivateIPC=no RemoveIPC=no; fi
    } >"$new"
    if ! cmp --silent "$new" "$SOUND_DROP_IN"; then
        SOUND_CHANGED=yes
        install -D -m 0644 "$new" "$SOUND_DROP_IN"
        printf '%s\n' "$@" >"$SOUND_ENV"
    fi
    rm -f "$new"
}

# ---- the sound server of a session -----------------------------------------------------------

in_session() {
    local folder
    folder=/run/user/$(id -u "$SOUND_USER")
    runuser -u "$SOUND_USER" -- env XDG_RUNTIME_DIR="$folder" \
        DBUS_SESSION_BUS_ADDRESS="unix:path=$folder/bus" "$@" >>"$LOG" 2>&1
}

open_session() {
    put_file "$SOUND_TMPFILES" <<END
# $MARK: where the sound server of $SOUND_USER opens a socket for the service.
d $SOUND_DOOR 2770 $SOUND_USER hearth -
END
    systemd-tmpfiles --create "$SOUND_TMPFILES"
    if [ -S "/run/user/$(id -u "$SOUND_USER")/pipewire-0" ] || [ -e "$SOUND_PIPEWIRE" ]; then
        open_pipewire
    else
        open_pulseaudio
    fi
    stay_logged_in
    if ! [ -S "$SOUND_DOOR/native" ]; then
        warn "the socket does not exist yet: log $SOUND_USER out and in again, or restart the machine"
    fi
}

open_pipewire() {
    # A list in a file of this folder replaces the one before it.
    local others
    others=$(grep -rls 'server\.address' /etc/pipewire "/home/$SOUND_USER/.config/pipewire" | grep -v "^$SOUND_PIPEWIRE$" || true)
    if [ -n "$others" ]; then
        warn "$others also sets server.address; add \"unix:$SOUND_DOOR/native\" to it there"
    fi
    put_file "$SOUND_PIPEWIRE" <<END
# $MARK: a second socket, for the service.
pulse.properties = {
    server.address = [ "unix:native" "unix:$SOUND_DOOR/native" ]
}
END
    [ -S "$SOUND_DOOR/native" ] || in_session systemctl --user restart pipewire-pulse.service || true
    await_door
}

open_pulseaudio() {
    local own
    own=$(getent passwd "$SOUND_USER" | cut -d: -f6)/.config/pulse/default.pa
    if [ -e "$own" ]; then warn "$own counts in place of $SOUND_PULSEAUDIO; add its last line there"; fi
    put_file "$SOUND_PULSEAUDIO" <<END
# $MARK: a second socket, for the service. Its folder keeps everybody else out.
load-module module-native-protocol-unix socket=$SOUND_DOOR/native auth-anonymous=1
END
    if ! [ -S "$SOUND_DOOR/native" ]; then
        in_session pactl load-module module-native-protocol-unix "socket=$SOUND_DOOR/native" auth-anonymous=1 ||
            in_session systemctl --user restart pulseaudio.service || true
    fi
    await_door
}

await_door() {
    local _
    for _ in {1..20}; do
        [ ! -S "$SOUND_DOOR/native" ] || return 0
        sleep 0.25
    done
}

# The session, and its sound server with it, is there after a start of the machine too.
stay_logged_in() {
    if [ -e "/var/lib/systemd/linger/$SOUND_USER" ]; then return 0; fi
    if loginctl enable-linger "$SOUND_USER" 2>>"$LOG"; then
        echo "$SOUND_USER" >"$OWN/linger"
        say "$SOUND_USER's session keeps running when nobody is logged in (loginctl enable-linger)"
    fi
}

# shellcheck disable=SC2034  # service.sh asks
# put_file FILE: what stands on stdin, where that is not what stands there.
put_file() {
    local new
    new=$(mktemp)
    cat >"$new"
    if ! cmp --silent "$new" "$1"; then
        SOUND_CHANGED=yes
        install -D -m 0644 "$new" "$1"
    fi
    rm -f "$new"
}

# Remove files that the installer has written; what lacks its mark is somebody else's.
drop_ours() {
    local file
    for file in "$@"; do
        if grep -qs "$MARK" "$file"; then
            rm -f -- "$file"
            # Of their folders Debian has all but this one's.
            if [ "$file" = "$SOUND_PIPEWIRE" ]; then rmdir "${file%/*}" "${file%/*/*}" 2>/dev/null || true; fi
        fi
    done
}

# ---- plain ALSA ------------------------------------------------------------------------------

share_alsa() {
    local player recorder
    if [ -e "$SOUND_ALSA" ] && ! grep -q "$MARK" "$SOUND_ALSA"; then
        say "ALSA, as in your $SOUND_ALSA"
        return
    fi
    player=$(best_card p) recorder=$(best_card c)
    say "ALSA, shared with other programs: plays on ${player:-nothing}, records from ${recorder:-nothing}"
    put_file "$SOUND_ALSA" < <(shared_alsa "$player" "$recorder")
}

shared_alsa() {
    echo "# $MARK: several programs may play and record at once."
    echo "pcm.!default {"
    echo "    type asym"
    if [ -n "$1" ]; then echo "    playback.pcm \"plug:'dmix:CARD=$1'\""; fi
    if [ -n "$2" ]; then echo "    capture.pcm \"plug:'dsnoop:CARD=$2'\""; fi
    echo "}"
    if [ -n "${1:-$2}" ]; then echo "ctl.!default { type hw; card ${1:-$2} }"; fi
}

# best_card p|c: the name of a card that plays (p) or records (c). One on USB goes first, and one
# that is no screen's (HDMI) before one that is.
best_card() {
    local card name pcm best='' worth=0 most=0
    for card in "$CARDS"/card[0-9]*; do
        for pcm in "$card"/pcm*"$1"; do
            [ -e "$pcm" ] || continue
            name=$(cat "$card/id") worth=2
            if [ -e "$card/usbid" ]; then worth=3; fi
            case $name in *[hH][dD][mM][iI]*) worth=1 ;; esac
            if [ "$worth" -gt "$most" ]; then best=$name most=$worth; fi
        done
    done
    echo "$best"
}

# ---- the proof -------------------------------------------------------------------------------

# Plays and records for a second in a unit that is the service's own, drop-ins and all, but for what
# it runs and how long.
prove_sound() {
    local unit=/run/systemd/system/hearth-sound-check.service answer=/run/hearth-sound-check.answer
    [ $SOUND != none ] || return 0
    install -d /run/systemd/system
    {
        systemctl cat hearth.service | sed -e ':a' -e '/\\$/N; s/\\\n//; ta' |
            grep -Ev '^(Type|Exec[A-Za-z]*|Restart[A-Za-z]*|Watchdog[A-Za-z]*|NotifyAccess|StartLimit[A-Za-z]*|Timeout[A-Za-z]*|OnFailure|FailureAction|WantedBy|Alias|Standard(Output|Error))='
        echo "[Service]"
        echo "Type=oneshot"
        echo "TimeoutStartSec=60"
        echo "StandardOutput=truncate:$answer"
        echo "StandardError=journal"
        echo "ExecStart=$CURRENT/bin/python -P $OWN/install/sound_check.py $CONFIGURATION/hearth.toml"
    } >"$unit"
    systemctl daemon-reload
    systemctl start hearth-sound-check.service 2>>"$LOG" || true
    while IFS=$'\t' read -r verdict sentence; do
        case $verdict in
            ok) good "$sentence" ;;
            *) warn "$sentence" ;;
        esac
    done <"$answer" || true
    [ -s "$answer" ] || warn "could not test playing and recording; see: journalctl -u hearth-sound-check"
    rm -f "$unit" "$answer"
    systemctl daemon-reload
}
