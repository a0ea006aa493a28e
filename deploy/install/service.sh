# shellcheck shell=bash
# The service: stopped, switched and started; and all put back where the new one does not come up.

READY_S=180  # for `systemctl start`, which waits until the service says that it listens
OPEN_S=90    # then it opens the rest: the house, the brains, last of all its HTTP interface
READING_S=20 # for the settings before that
BEFORE=$HOUSE/before-upgrade # the state as it was, for the way back

bring_up() {
    local stopped since
    if [ -z "$NEW" ] && [ "$SOUND_CHANGED" = no ] && cmp --silent "$HERE/hearth.service" "$UNIT" &&
        systemctl is-active --quiet hearth.service; then
        say "Hearth is running, and nothing has changed"
        return
    fi
    systemctl daemon-reload
    stopped=$SECONDS since=$(date +%s)
    if systemctl is-active --quiet hearth.service; then systemctl stop hearth.service; fi
    if [ -n "$OLD" ] && [ -n "$NEW" ]; then save_state; fi
    put_unit "$HERE/hearth.service"
    if [ -n "$NEW" ]; then switch_to "$NEW"; fi
    prove_sound
    if start_service; then
        rm -rf -- "$BEFORE"
        good "it listens"
        if [ -n "$OLD" ]; then say "$((SECONDS - stopped)) s without it"; fi
        return
    fi
    words_since "$since"
    systemctl stop hearth.service || true
    if [ -z "$OLD" ] || [ -z "$NEW" ]; then
        fail "the service did not start (see its output above); fix that, then: systemctl start hearth"
    fi
    go_back
}

# What the service and systemd have said, each sentence once; without what only programmers read.
words_since() {
    journalctl --unit hearth.service --since "@$1" --no-pager --output cat |
        grep -Ev '^([ +|]|Traceback)' | LC_ALL=C tr -d '\000-\010\013-\037\177' | awk '!seen[$0]++' | tail -n 8 | sed 's/^/    /' >&2 || true
}

# All of the state but what is large and no version changes.
each_state() {
    find "$1" -mindepth 1 -maxdepth 1 -not -name models -not -name recordings -not -name media \
        -not -name '.*' -exec "${@:2}" {} +
}

save_state() {
    rm -rf -- "$BEFORE"
    install -d -m 0700 "$BEFORE"
    each_state "$STATE" cp -a --reflink=auto -t "$BEFORE"
}

# A newer version may have changed the database in a way that the older one does not know.
go_back() {
    switch_to "$OLD"
    put_unit "$OLD/hearth.service"
    each_state "$STATE" rm -rf --one-file-system --
    # The folder is the service's user's: what stands there already may be a link to anywhere.
    each_state "$BEFORE" cp -a --remove-destination --reflink=auto -t "$STATE"
    rm -rf -- "$BEFORE"
    rm -rf --one-file-system -- "$NEW"
    start_service || fail "neither the new version nor the old one starts; see: journalctl -u hearth"
    fail "the new version did not start (see its output above); Hearth $(release_version) is running again"
}

put_unit() {
    install -m 0644 "$1" "$UNIT.new"
    mv "$UNIT.new" "$UNIT"
    systemctl daemon-reload
    systemctl enable --quiet hearth.service
}

start_service() {
    systemctl reset-failed hearth.service 2>/dev/null || true
    timeout "$READY_S" systemctl start hearth.service 2>>"$LOG" || return 1
    interface_opens || return 1
    [ "$(systemctl show --value --property NRestarts hearth.service)" = 0 ]
}

# The settings are the service's user's, and so is who reads them: what they name may be another's
# file, or one that never ends.
interface_opens() {
    timeout --kill-after=5 $((OPEN_S + READING_S)) runuser -u hearth -- \
        "$CURRENT/bin/python" -P "$OWN/install/answers.py" "$CONFIGURATION/hearth.toml" "$OPEN_S" \
        </dev/null 2>>"$LOG"
}
