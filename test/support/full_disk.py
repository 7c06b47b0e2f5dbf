"""A limit of the size of files, whose end is like a full disk."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def full_disk(free_bytes: int) -> Iterator[None]:
    """Let each file have at most some bytes in the block; Python ignores the signal."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (free_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
