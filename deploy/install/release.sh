# shellcheck shell=bash
# The program: one virtual environment for each version, and a link to the one that runs.

EXTRAS="echo" # echo cancellation; 10 MB
NEW=''      # the folder of the release that this run has made; empty: the present one will do
OLD=''      # the release that ran before

choose_source() {
    if [ -z "$SOURCE" ]; then
        SOURCE=$(dirname "$HERE")
        [ -f "$SOURCE/pyproject.toml" ] || fail "there is no repository around $HERE; say what to install with --source"
    fi
    [ -e "$SOURCE" ] || fail "there is no $SOURCE"
    SOURCE=$(readlink -f "$SOURCE")
    if [ -d "$SOURCE" ]; then
        [ -f "$SOURCE/pyproject.toml" ] || fail "$SOURCE is no repository of Hearth"
    else
        case $SOURCE in *.whl) ;; *) fail "$SOURCE is neither a folder nor a wheel" ;; esac
    fi
    [ -f "$HERE/hearth.service" ] || fail "$HERE/hearth.service is missing"
}

# What a release is made of, as one sum: the source, the unit and the Python.
sum_of_source() {
    {
        "$PYTHON" -c 'import os, sys; print(sys.version, os.path.realpath(sys.executable))'
        echo "$EXTRAS"
        cat "$HERE/hearth.service"
        if [ -d "$SOURCE" ]; then
            cd "$SOURCE" || exit 1
            find pyproject.toml README.md assistant audio integrations models -type f \
                -not -path '*/__pycache__/*' -print0 | LC_ALL=C sort -z | xargs -0 sha256sum
        else
            sha256sum <"$SOURCE"
        fi
    } | sha256sum | cut -d' ' -f1
}

release_version() { "$CURRENT/bin/python" -c 'from importlib.metadata import version; print(version("hearth-voice"))'; }

make_release() {
    local sum
    OLD=$(readlink -e "$CURRENT" || true)
    sum=$(sum_of_source)
    if [ -n "$OLD" ] && [ "$(cat "$OLD/hearth-sum" 2>/dev/null)" = "$sum" ] && "$OLD/bin/hearth" --help >/dev/null 2>&1; then
        say "$(release_version) is there already"
        return
    fi
    NEW=$RELEASES/$(date -u +%Y%m%dT%H%M%SZ)
    trap 'drop_new; exit 1' EXIT
    say "Python packages; a few minutes the first time"
    "$PYTHON" -m venv "$NEW" >>"$LOG" 2>&1 || no_release "$PYTHON could not make an environment"
    pip_install 'pip>=25.1'
    pip_install "${SOURCE}[$EXTRAS]"
    "$NEW/bin/hearth" --help >/dev/null 2>>"$LOG" || no_release "the program does not start"
    install -m 0644 "$HERE/hearth.service" "$NEW/hearth.service"
    echo "$sum" >"$NEW/hearth-sum"
    trap - EXIT
    say "$("$NEW/bin/python" -m pip list --format=freeze 2>/dev/null | wc -l) packages, $(du -sh "$NEW" | cut -f1)"
}

pip_install() {
    PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore PIP_NO_INPUT=1 \
        "$NEW/bin/python" -m pip install --upgrade "$1" >>"$LOG" 2>&1 ||
        no_release "pip could not install the Python packages; check the network and run this again"
}

no_release() {
    last_words "$LOG"
    drop_new
    trap - EXIT
    fail "$1"
}

drop_new() {
    if [ -n "$NEW" ] && [ "$(readlink -e "$CURRENT" || true)" != "$NEW" ]; then rm -rf --one-file-system -- "$NEW"; fi
}

# Which release counts, from now on; in one instant.
switch_to() {
    ln -sfn "$1" "$CURRENT.new"
    mv -T "$CURRENT.new" "$CURRENT"
}

# The present one and the one before it stay.
forget_old_releases() {
    local release present
    present=$(readlink -e "$CURRENT")
    for release in "$RELEASES"/*; do
        case $release in "$present" | "${OLD:-none}") ;; *) rm -rf --one-file-system -- "$release" ;; esac
    done
}
