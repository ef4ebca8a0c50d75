"""Locks between processes."""

from __future__ import annotations


def locked(file: int) -> bool:
    """Lock a file or folder until its handle is closed; False where another process has. Without locks: True."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):  # Windows, or a file system without locks
        return True
    return True
