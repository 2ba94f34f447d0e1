"""Writing a file as a whole: a full disk leaves the old one, never half a new one."""

import os
import tempfile


def write_whole(path: str, text: str) -> None:
    """Writes `text` to `path`; OSError leaves what was there."""
    handle, temporary = tempfile.mkstemp(dir=folder_of(path), prefix=".palladion-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def check_writable(path: str) -> None:
    """OSError where `write_whole` could not write; makes the folder that is to hold the file."""
    if os.path.isdir(path):
        raise IsADirectoryError(21, "it is a folder", path)
    os.makedirs(folder_of(path), exist_ok=True)
    with tempfile.TemporaryFile(dir=folder_of(path)):
        pass


def folder_of(path: str) -> str:
    return os.path.dirname(os.path.abspath(path))
