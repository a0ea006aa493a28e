# shellcheck shell=bash
# Taking it away again.

uninstall() {
    local file left=()
    if someone_there; then
        if [ "$PURGE" = yes ]; then
            ask "Remove Hearth with its configuration, data and user?" || fail "cancelled"
        else
            ask "Remove Hearth, but keep $CONFIGURATION and $STATE?" || fail "cancelled"
        fi
    fi
    step "Removing Hearth"
    systemctl disable --now hearth.service 2>/dev/null || true
    rm -f -- "$UNIT" "$SOUND_DROP_IN" "$COMMAND"
    close_sound
    if [ "$PURGE" = yes ]; then rm -rf -- "$DROP_INS"; fi
    if [ -d "$DROP_INS" ]; then rmdir --ignore-fail-on-non-empty "$DROP_INS"; fi
    systemctl daemon-reload
    systemctl reset-failed hearth.service 2>/dev/null || true
    if [ -s "$OWN/packages" ]; then
        say "these Debian packages were installed with Hearth and are kept: $(sort -u "$OWN/packages" | tr '\n' ' ')"
    fi
    rm -rf --one-file-system -- "$HOUSE"
    rm -f -- "$LOG" "$LOCK"
    if [ "$PURGE" = yes ]; then
        rm -rf --one-file-system -- "$CONFIGURATION" "$STATE"
        if getent passwd hearth >/dev/null; then userdel hearth 2>/dev/null; fi
        good "Hearth is completely removed."
        return
    fi
    for file in "$CONFIGURATION" "$STATE" "$DROP_INS"; do
        if [ -e "$file" ]; then left+=("$file"); fi
    done
    good "Hearth is removed. Kept: ${left[*]:-nothing}, and the user hearth; --uninstall --purge removes these too."
}

# Whatever was written so that the service is let in.
close_sound() {
    local user
    user=$(door_user)
    drop_ours "$SOUND_TMPFILES" "$SOUND_PIPEWIRE" "$SOUND_PULSEAUDIO" "$SOUND_ALSA"
    rm -rf -- "$SOUND_DOOR"
    if [ -s "$OWN/linger" ]; then loginctl disable-linger "$(cat "$OWN/linger")" 2>/dev/null || true; fi
    if [ -n "$user" ]; then say "$user's sound server forgets its second socket at the next login"; fi
}
