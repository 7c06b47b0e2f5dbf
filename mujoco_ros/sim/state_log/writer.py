"""Writer thread of the state log."""

import logging
import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from errno import ENOENT
from pathlib import Path
from typing import BinaryIO

import numpy as np

from mujoco_ros.model.output_files import create_file
from mujoco_ros.model.robot.description import RobotDescription, descriptions
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.state_log.ring_buffer import RingBuffer
from mujoco_ros.sim.state_log.row_format import MAGIC, ROWS, SEGMENT, write_all, write_record
from mujoco_ros.sim.state_log.scene_description import describe_rows
from mujoco_ros.sim.state_log.segment_header import pack

_LOG = logging.getLogger(__name__)
_PERIOD_S = 0.1
"""A crash loses the rows of at most this time."""

DescribeRobots = Callable[[Plant], Sequence[RobotDescription]]


def describe_robots(plant: Plant) -> Sequence[RobotDescription]:
    """Return the descriptions of a plant's robots."""
    return descriptions(plant.assembly, plant.layout)


class StateLogWriter:
    """A thread that writes the rows of ring buffers to a file.

    Attributes:
        path: The file.
        size: Bytes written.
        rows: Rows written.
        dropped: Rows that finished buffers dropped.
        problem: Error that ended the log; empty without one.
    """

    def __init__(
        self,
        path: Path,
        describe: DescribeRobots = describe_robots,
        *,
        below: Path | None = None,
    ) -> None:
        """Create the file, which only its user can read.

        Args:
            path: The file.
            describe: Returns the descriptions that are stored with a model.
            below: Folder below which it must be, as for `create_file`.

        Raises:
            UserInputError: The file exists or cannot be created.
        """
        self.path = path
        self.size = self.rows = self.dropped = 0
        self.problem = ""
        self._describe = describe
        self._rings: deque[RingBuffer] = deque()
        self._current: RingBuffer | None = None  # whose segment header is written
        self._ending = threading.Event()
        created = create_file(path, "state log", below=below)
        self._file: BinaryIO = os.fdopen(created, "wb", buffering=0)
        self._thread = threading.Thread(target=self._run, name="state log", daemon=True)
        self._thread.start()

    def add(self, ring: RingBuffer) -> None:
        """Write the rows of `ring` after those of the previous ones; callable from any thread."""
        self._rings.append(ring)

    def end(self) -> None:
        """Close all buffers; the thread writes their rows and closes the file."""
        self._close_rings()
        self._ending.set()

    def close(self) -> None:
        """End the log and wait until the file is closed."""
        self.end()
        self._thread.join()

    def _close_rings(self) -> None:
        for ring in tuple(self._rings):
            ring.closed = True

    def _run(self) -> None:
        try:
            with self._file:
                write_all(self._file, MAGIC)
                self.size += len(MAGIC)
                is_ending = False
                while not is_ending:
                    is_ending = self._ending.wait(_PERIOD_S)
                    self._write_pending()
                    if not os.fstat(self._file.fileno()).st_nlink:
                        raise FileNotFoundError(ENOENT, f"it was deleted with {self.rows} rows")
        except OSError as error:
            self.problem = f"'{self.path}' cannot be written: {error.strerror}"
        except Exception as error:
            self.problem = f"'{self.path}' cannot be written: {type(error).__name__}: {error}"
        if self.problem:
            self._close_rings()  # the physics thread adds no more rows
            _LOG.error("the state log ends: %s; the simulation continues", self.problem)

    def _write_pending(self) -> None:
        """Write the rows of all buffers; remove buffers that are closed and empty."""
        while self._rings:
            ring = self._rings[0]
            closed = ring.closed  # read before the rows: none are added after it is set
            if ring is not self._current:
                header = describe_rows(ring, self._describe(ring.plant))
                self.size += write_record(self._file, SEGMENT, pack(ring.plant.model, header))
                self._current = ring
            self._write_rows(ring)
            if not closed:
                return
            self.dropped += ring.dropped
            self._rings.popleft()

    def _write_rows(self, ring: RingBuffer) -> None:
        for rows in ring.pending():
            count = rows.stop - rows.start
            columns = (ring.columns[field.name][rows] for field in ring.fields if field.size)
            numbers = (np.ascontiguousarray(column).data.cast("B") for column in columns)
            self.size += write_record(self._file, ROWS, list(numbers))
            ring.remove(count)
            self.rows += count
