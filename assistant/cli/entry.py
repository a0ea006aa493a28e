"""The first module of the program: it imports little, so that Ctrl-C is quiet from the start."""

import errno
import os
import signal
import sys

FAILED, INTERRUPTED = 1, 130
_CANNOT_WRITE = (errno.EPIPE, errno.ENOSPC, errno.EDQUOT)


def main() -> int:
    """Run the command in the daemon or in this process, and return the exit code."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # while modules are imported: no traceback
    try:
        code = _run(sys.argv[1:])
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except OSError as error:
        code = cannot_write(error)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # while threads and modules are torn down
    return code


def _run(words: list[str]) -> int:
    from assistant.cli.commands import answer
    from assistant.cli.remote import COMMANDS, run_in_daemon

    code = answer(words)
    if code is None and words[0] in COMMANDS:
        with_ctrl_c()
        code = run_in_daemon(words, os.environ)
    if code is None:
        from assistant.cli.main import main as run

        code = run()
    return code


def with_ctrl_c() -> None:
    """Have Ctrl-C raise KeyboardInterrupt again, unless it is ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def cannot_write(error: OSError) -> int:
    """Return the exit code for output that cannot be written; raise any other error again.

    If the reader of the output has gone (`hearth tools | head`), there is nobody to tell.
    """
    if error.errno not in _CANNOT_WRITE:
        raise error
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if error.errno != errno.EPIPE:
        sys.stderr.write(f"hearth: cannot write the output: {error.strerror}\n")
    return FAILED
