"""What a long run gives back; in a process of its own, whose memory is frozen."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import ctypes
import gc
from mujoco_ros.process.memory_trim import MemoryTrimmer, resident

class Ring:
    def __init__(self):
        self.me = self

memory = MemoryTrimmer()
assert not gc.isenabled()
Ring()
memory.tidy()
assert not [x for x in gc.get_objects() if isinstance(x, Ring)], "what refers to itself is kept"

library = ctypes.CDLL(None)
library.malloc.restype = ctypes.c_void_p
library.free.argtypes = [ctypes.c_void_p]
library.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
before = resident()
pieces = [library.malloc(4000) for _ in range(20_000)]
for piece in pieces:
    library.memset(piece, 1, 4000)
kept = pieces[::100]
full = resident()
assert full > before + 60e6
for piece in set(pieces) - set(kept):
    library.free(piece)
del pieces
assert resident() > full - 30e6, "the C library needs no help"
memory.tidy()
assert resident() < before + 15e6
"""


def test_what_is_free_goes_back_even_among_pieces_that_are_not() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
