# shellcheck shell=bash
# How the installer speaks: on stderr, in colour where a person looks.

if [ -t 2 ] && [ -z "${NO_COLOR:-}" ]; then
    BOLD=$'\e[1m' GREEN=$'\e[32m' YELLOW=$'\e[33m' RED=$'\e[31m' PLAIN=$'\e[0m'
else
    BOLD='' GREEN='' YELLOW='' RED='' PLAIN=''
fi

step() { printf '%s%s%s\n' "$BOLD" "$*" "$PLAIN" >&2; }
say() { printf '  %s\n' "$*" >&2; }
good() { printf '  %s%s%s\n' "$GREEN" "$*" "$PLAIN" >&2; }
warn() { printf '  %s%s%s\n' "$YELLOW" "$*" "$PLAIN" >&2; }

fail() {
    printf '%sNot done: %s%s\n' "$RED" "$*" "$PLAIN" >&2
    exit 1
}

# ask QUESTION: yes unless somebody says no.
ask() {
    local answer
    printf '%s%s%s [Y/n] ' "$BOLD" "$1" "$PLAIN" >&2
    read -r answer || return 1
    case $answer in [nN]*) return 1 ;; *) return 0 ;; esac
}

# The last lines of what a program said, and where the rest is.
last_words() {
    tail -n "${2:-8}" "$1" | sed 's/^/    /' >&2
    say "all of it: $1"
}
