# shellcheck shell=bash
# The program: one virtual environment for each version, and a link to the one that runs.

NEW=''      # the folder of the release that this run has made; empty: the present one will do
OLD=''      # the release that ran before

choose_source() {
    if [ -z "$SOURCE" ]; then
        SOURCE=$(dirname "$HERE")
        [ -f "$SOURCE/pyproject.toml" ] || fail "$HERE is not in a Hearth repository; name one with --source"
    fi
    [ -e "$SOURCE" ] || fail "$SOURCE does not exist"
    SOURCE=$(readlink -f "$SOURCE")
    if [ -d "$SOURCE" ]; then
        [ -f "$SOURCE/pyproject.toml" ] || fail "$SOURCE is not a Hearth repository"
    else
        case $SOURCE in *.whl) ;; *) fail "$SOURCE is neither a folder nor a wheel" ;; esac
    fi
    [ -f "$HERE/hearth.service" ] || fail "$HERE/hearth.service is missing"
}

# What is installed must be what was released: a wheel by its checksum, a checkout by its signed tag.
check_origin() {
    if [ -f "$SOURCE" ]; then
        check_wheel
    elif [ -n "$SHA256" ]; then
        fail "--sha256 is for wheels; $SOURCE is a folder"
    elif [ -e "$SOURCE/.git" ] && command -v git >/dev/null; then
        check_checkout
    else
        say "$SOURCE is not a git checkout, so it can't be checked against a release"
    fi
}

check_wheel() {
    local name sums
    name=$(basename "$SOURCE") sums=$(dirname "$SOURCE")/SHA256SUMS
    if [ -z "$SHA256" ] && [ -f "$sums" ]; then
        SHA256=$(awk -v name="$name" '$2 == name || $2 == "*" name { print $1 }' "$sums")
    fi
    [ -n "$SHA256" ] || fail "$name has no checksum; put the release's SHA256SUMS beside it, or use --sha256"
    [ "$(sha256sum <"$SOURCE" | cut -d' ' -f1)" = "${SHA256,,}" ] ||
        fail "$name does not match its checksum; download it again"
    say "$name matches its checksum"
}

# Root looks at a repository that may be another user's; nothing in its settings may run a program.
trusted_git() {
    git -c "safe.directory=$SOURCE" -c core.fsmonitor=false -c gpg.program=gpg -c gpg.ssh.program=ssh-keygen \
        -c "gpg.ssh.allowedSignersFile=$SIGNERS" -C "$SOURCE" "$@"
}

check_checkout() {
    local tag
    if ! tag=$(trusted_git describe --exact-match --tags HEAD 2>/dev/null); then
        say "this checkout is not at a release tag, so it can't be checked against what its authors signed"
    elif [ ! -f "$SIGNERS" ]; then
        say "the signature of $tag was not checked: $SIGNERS, the list of signers, is missing"
    elif trusted_git verify-tag "$tag" >>"$LOG" 2>&1; then
        [ -z "$(trusted_git status --porcelain --untracked-files=no)" ] ||
            fail "$tag is signed, but files in this checkout have changed since; revert them (git stash) or remove $SIGNERS"
        say "$tag is signed by somebody in $SIGNERS"
    else
        fail "$tag is not signed by anybody in $SIGNERS; do not install it"
    fi
}

# The file that pins every package, with its hashes: that of the source, else the installer's own.
lock_of() {
    local name=$1
    if [ -d "$SOURCE" ]; then echo "$SOURCE/deploy/$name"; else echo "$HERE/$name"; fi
}

# What a release is made of, as one sum: the source, the unit and the Python.
sum_of_source() {
    {
        "$PYTHON" -c 'import os, sys; print(sys.version, os.path.realpath(sys.executable))'
        cat "$HERE/hearth.service"
        if [ -d "$SOURCE" ]; then
            cd "$SOURCE" || exit 1
            find pyproject.toml README.md deploy/*.lock assistant audio integrations models -type f \
                -not -path '*/__pycache__/*' -print0 | LC_ALL=C sort -z | xargs -0 sha256sum
        else
            sha256sum <"$SOURCE"
            cat "$HERE"/*.lock
        fi
    } | sha256sum | cut -d' ' -f1
}

release_version() { "$CURRENT/bin/python" -c 'from importlib.metadata import version; print(version("hearth-voice"))'; }

make_release() {
    local sum wheel
    OLD=$(readlink -e "$CURRENT" || true)
    sum=$(sum_of_source)
    if [ -n "$OLD" ] && [ "$(cat "$OLD/hearth-sum" 2>/dev/null)" = "$sum" ] && "$OLD/bin/hearth" --help >/dev/null 2>&1; then
        say "$(release_version) is already installed"
        return
    fi
    NEW=$RELEASES/$(date -u +%Y%m%dT%H%M%SZ)
    trap 'drop_new; exit 1' EXIT
    say "Python packages; this takes a few minutes the first time"
    "$PYTHON" -m venv "$NEW" >>"$LOG" 2>&1 || no_release "$PYTHON could not make an environment"
    pip_install "$NEW" --require-hashes --only-binary :all: --requirement "$(lock_of requirements.lock)"
    wheel=$(wheel_of_source)
    [ -f "$wheel" ] || no_release "pip could not install the Python packages: Hearth could not be built"
    pip_install "$NEW" --no-deps --no-index "$wheel"
    rm -rf -- "$NEW.build"
    "$NEW/bin/hearth" --help >/dev/null 2>>"$LOG" || no_release "the program does not start"
    install -m 0644 "$HERE/hearth.service" "$NEW/hearth.service"
    echo "$sum" >"$NEW/hearth-sum"
    trap - EXIT
    say "$("$NEW/bin/python" -m pip list --format=freeze 2>/dev/null | wc -l) packages, $(du -sh "$NEW" | cut -f1)"
}

# pip_install ENVIRONMENT ARGUMENT...: nothing is taken of which the hash is not pinned.
pip_install() {
    quiet_pip "$1" install "${@:2}" >>"$LOG" 2>&1 ||
        no_release "pip could not install the Python packages; check the network and run this again"
}

quiet_pip() {
    PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore PIP_NO_INPUT=1 \
        "$1/bin/python" -m pip "${@:2}"
}

# Prints the wheel to install: the source itself, or one that is built of it here, with tools that are
# pinned too.
wheel_of_source() {
    local build=$NEW.build
    if [ -f "$SOURCE" ]; then
        echo "$SOURCE"
        return
    fi
    "$PYTHON" -m venv "$build" >>"$LOG" 2>&1 &&
        quiet_pip "$build" install --require-hashes --only-binary :all: \
            --requirement "$(lock_of requirements-build.lock)" >>"$LOG" 2>&1 &&
        PATH="$build/bin:$PATH" quiet_pip "$build" wheel --no-deps --no-build-isolation --no-index \
            --wheel-dir "$build/wheel" "$SOURCE" >>"$LOG" 2>&1 || return 0
    echo "$build"/wheel/*.whl
}

no_release() {
    last_words "$LOG"
    drop_new
    trap - EXIT
    fail "$1"
}

drop_new() {
    [ -z "$NEW" ] || rm -rf --one-file-system -- "$NEW.build"
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
