"""Entry point of the `hearth` program. It imports little, so that Ctrl-C prints no traceback even
during start-up."""

import os
import sys

try:
    import errno
    import signal
except KeyboardInterrupt:  # importing `signal` takes 2 ms, during which Ctrl-C still raises
    os._exit(130)

FAILED, INTERRUPTED = 1, 130
_CANNOT_WRITE = (errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def main() -> int:
    """Run the command in the daemon or in this process, and return the exit code."""
    without_ctrl_c()  # prints no traceback during imports
    _prepare_streams()
    try:
        try:
            code = _run(sys.argv[1:])
        except SystemExit as end:  # raised by argparse for --help and wrong usage
            code = end.code if isinstance(end.code, int) else 0
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except OSError as error:
        code = cannot_write(error)
    without_ctrl_c()  # while threads and modules are torn down
    return code


def _prepare_streams() -> None:
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            setattr(sys, name, os.fdopen(nowhere, "w", encoding="utf-8"))
        getattr(sys, name).reconfigure(errors="backslashreplace")


def _run(words: list[str]) -> int:
    from assistant.cli.commands import answer
    from assistant.cli.remote import COMMANDS, run_in_daemon

    code = answer(words)
    if code is None and words[0] in COMMANDS:
        with_ctrl_c()
        code = run_in_daemon(words, os.environ)
        without_ctrl_c()
    if code is None:
        from assistant.cli.main import main as run

        code = run()
    return code


def with_ctrl_c() -> None:
    """Make Ctrl-C raise KeyboardInterrupt again, unless SIGINT is ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def without_ctrl_c() -> None:
    """Make Ctrl-C end the process immediately instead of raising KeyboardInterrupt, unless SIGINT
    is ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def cannot_write(error: OSError) -> int:
    """Report that stdout can't be written, and return the exit code. Re-raises errors of other
    kinds. A broken pipe (`hearth tools | head`) is normal, so nothing is printed for it."""
    if error.errno not in _CANNOT_WRITE or error.filename is not None:
        raise error
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    if error.errno != errno.EPIPE:
        sys.stderr.write(f"hearth: Cannot write the output: {error.strerror}.\n")
    return FAILED
