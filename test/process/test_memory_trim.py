"""Memory returned during a long run, in a separate process with frozen objects."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import ctypes
import gc
from mujoco_ros.process.memory_trim import MemoryTrimmer, resident_bytes

class Ring:
    def __init__(self):
        self.me = self

memory = MemoryTrimmer()
assert not gc.isenabled()
Ring()
memory.trim()
assert not [x for x in gc.get_objects() if isinstance(x, Ring)], "reference cycles stay"

library = ctypes.CDLL(None)
library.malloc.restype = ctypes.c_void_p
library.free.argtypes = [ctypes.c_void_p]
library.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
before = resident_bytes()
pieces = [library.malloc(4000) for _ in range(20_000)]
for piece in pieces:
    library.memset(piece, 1, 4000)
kept = pieces[::100]
full = resident_bytes()
assert full > before + 60e6
for piece in set(pieces) - set(kept):
    library.free(piece)
del pieces
assert resident_bytes() > full - 30e6, "the C library returns it by itself"
memory.trim()
assert resident_bytes() < before + 15e6
"""


def test_free_memory_is_returned_even_between_fragments_in_use() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
