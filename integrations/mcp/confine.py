"""A launcher that restricts itself with Landlock and then becomes a tool server.

  python -I -S confine.py RULES PROGRAM [ARGUMENT ...]

`RULES` is JSON: `{"abi": 5, "read": [path, ...], "write": [path, ...]}`. The launcher is a separate
program, because in a process with threads it is not safe to run Python code between fork and exec.
It uses only the standard library. Landlock: https://docs.kernel.org/userspace-api/landlock.html
"""

import ctypes
import json
import os
import stat
import sys

# These system calls have the same numbers on every architecture, because they were added after the
# numbering was unified.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_PATH_BENEATH = 1
_VERSION = 1  # flag of landlock_create_ruleset: only return the ABI version
_NO_NEW_PRIVS = 38
_DROP_CAPABILITY = 24
# CAP_SYS_PTRACE, CAP_SYS_ADMIN, CAP_PERFMON: with one of these, root can read the environment of
# other processes despite Landlock.
_SEES_PROCESSES = (19, 21, 38)

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE = 1 << 14
_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_SCOPE_SIGNAL = 1 << 1


class _Ruleset(ctypes.Structure):
    _fields_ = (
        ("handled_access_fs", ctypes.c_uint64),
        ("handled_access_net", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    )


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"  # packed; Python 3.14 requires it
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


def landlock_abi() -> int:
    """Return the Landlock version that this kernel enforces, or 0 if it enforces none."""
    abi = _libc().syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION))
    return max(0, int(abi))


def confine(abi: int, read: list[str], write: list[str]) -> None:
    """Restrict this process and all its children to files in these paths. Raises OSError.

    `abi` is the kernel's Landlock version. Paths that do not exist or cannot be opened are skipped.
    """
    everything = (1 << (13 if abi < 2 else 14 if abi < 3 else 15)) - 1
    ruleset = _Ruleset(everything, 0, _SCOPE_SIGNAL if abi >= 6 else 0)
    # A kernel refuses a structure that is longer than the one it knows.
    size = 8 if abi < 4 else 16 if abi < 6 else 24
    rules = _call(_CREATE_RULESET, ctypes.byref(ruleset), ctypes.c_size_t(size), 0)
    for paths, access in ((read, _READ), (write, everything)):
        for path in paths:
            _allow(rules, path, access & everything)
    for capability in _SEES_PROCESSES:
        _libc().prctl(_DROP_CAPABILITY, capability, 0, 0, 0)  # fails if it is missing
    if _libc().prctl(_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "no_new_privs")
    _call(_RESTRICT_SELF, rules, 0)
    os.close(rules)


def _allow(rules: int, path: str, access: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            access &= _ON_FILES
        _call(_ADD_RULE, rules, _PATH_BENEATH, ctypes.byref(_PathBeneath(access, place)), 0)
    finally:
        os.close(place)


def _call(number: int, *arguments: object) -> int:
    answer = _libc().syscall(number, *arguments)
    if answer < 0:
        raise OSError(ctypes.get_errno(), "Landlock")
    return int(answer)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Apply the rules from the command line and execute the program."""
    rules, program, *arguments = sys.argv[1:]
    try:
        confine(**json.loads(rules))
        os.execv(program, [program, *arguments])
    except OSError as error:
        # Plain output, without Hearth's logging: Hearth cuts and cleans a program's stderr.
        os.write(2, f"{program} cannot be started in its sandbox: {error.strerror}\n".encode())
        sys.exit(126)


if __name__ == "__main__":
    main()
