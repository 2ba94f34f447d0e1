"""Writing files and folders as a whole: they appear when they are complete,
and a full disk or a signal leaves what was there.

What is unfinished is called `.palladion-PID-N.part`, locked while its writer lives, and removed by the next writer in
the same folder where that one was killed: as semantics/base/unfinished.h has it for the command. Not caught: a signal
whose handler other code has set, or that arrives while another thread than the main one writes;
the next writer cleans up.
"""

import contextlib
import errno
import fcntl
import itertools
import os
import re
import shutil
import signal
import threading

_PART = re.compile(r"\.palladion-(\d+)-\d+\.part")
_numbers = itertools.count()


def write_whole(path: str, text: str) -> None:
    """Writes `text` to `path`; OSError leaves what was there. A link is followed;
    a device or a pipe is written to as it is.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)
        return
    given, path = path, os.path.realpath(path)
    try:
        _write_and_replace(path, text)
    except OSError as error:  # of a file that the reader has not heard of
        raise type(error)(error.errno, error.strerror, given) from None


def _write_and_replace(path: str, text: str) -> None:
    with _removed_when_killed(_new_name(os.path.dirname(path))) as part:
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            _lock(handle)
            if os.path.exists(path):
                os.chmod(part, os.stat(path).st_mode & 0o777)
            stream.write(text)
            stream.flush()
            os.fsync(handle)
            os.replace(part, path)


@contextlib.contextmanager
def whole_folder(path: str):
    """A new folder to fill; it becomes `path` at the end of the block, unless there was an error."""
    with _removed_when_killed(_new_name(folder_of(path))) as part:
        os.mkdir(part)
        handle = os.open(part, os.O_RDONLY)
        try:
            _lock(handle)
            yield part
            os.rename(part, path)
        finally:
            os.close(handle)


def check_writable(path: str) -> None:
    """OSError where `write_whole` could not write; makes the folder that is to hold the file."""
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, "it is a folder", path)
    folder = folder_of(os.path.realpath(path))
    os.makedirs(folder, exist_ok=True)
    if not os.access(folder, os.W_OK | os.X_OK) or (os.path.exists(path) and not os.access(path, os.W_OK)):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)


def check_is_no_input(path: str, inputs) -> None:
    """OSError where `path` is one of the files `inputs`, by another name or through a link too."""
    for one in inputs:
        if os.path.exists(path) and os.path.exists(one) and os.path.samefile(path, one):
            raise FileExistsError(
                errno.EEXIST, f"it is {one!r}, which is read: an output may not overwrite an input", path
            )


def folder_of(path: str) -> str:
    return os.path.dirname(os.path.abspath(path))


def remove_parts_of_dead_programs(folder: str) -> None:
    """What programs that no longer run have left in `folder`."""
    for name in os.listdir(folder):
        match = _PART.fullmatch(name)
        if match is None:
            continue
        path, owner = os.path.join(folder, name), int(match[1])
        # Our own number is also that of a program in another container, or of one before us in this.
        if (owner == os.getpid() or not _runs(owner)) and _unlocked(path):
            _remove(path)


def _new_name(folder: str) -> str:
    with contextlib.suppress(OSError):  # a folder that cannot be read is no reason not to write into it
        remove_parts_of_dead_programs(folder)
    while True:
        name = os.path.join(folder, f".palladion-{os.getpid()}-{next(_numbers)}.part")
        if not os.path.lexists(name):
            return name


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass
    return True


def _lock(handle: int) -> None:
    with contextlib.suppress(OSError):  # not every file system has locks
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _unlocked(path: str) -> bool:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass
    finally:
        os.close(handle)
    return True


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            os.unlink(path)


@contextlib.contextmanager
def _removed_when_killed(part: str):
    """Whatever way the block ends, `part` is gone: a signal that would end the process removes it first."""

    def remove_and_end(number, frame):
        del frame
        _remove(part)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    taken = []
    if threading.current_thread() is threading.main_thread():
        taken = [one for one in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(one) == signal.SIG_DFL]
    for one in taken:
        signal.signal(one, remove_and_end)
    try:
        yield part
    finally:
        _remove(part)
        for one in taken:
            signal.signal(one, signal.SIG_DFL)
