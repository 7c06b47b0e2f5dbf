"""Writing the log of the full state, beside the physics."""

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.robot.description import RobotDescription, descriptions
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.state_log.records import MAGIC, ROWS, SEGMENT, write_all, write_record
from mujoco_ros.sim.state_log.ring_buffer import RingBuffer
from mujoco_ros.sim.state_log.segment_head import describe_rows, pack

_LOG = logging.getLogger(__name__)
_PERIOD_S = 0.1
"""A sudden end loses at most the rows of so long."""

Describe = Callable[[Plant], Sequence[RobotDescription]]


def described(plant: Plant) -> Sequence[RobotDescription]:
    """Return the descriptions of a plant's robots."""
    return descriptions(plant.assembly, plant.layout)


class StateLogWriter:
    """A thread that writes what rings hold to a file.

    Attributes:
        path: The file.
        size: Bytes written.
        rows: Rows written.
        dropped: Rows there was no room for.
        problem: Why nothing is written any more; empty while all is well.
    """

    def __init__(self, path: Path, describe: Describe = described) -> None:
        """Create the file.

        Args:
            path: Where; the file must not exist, its folder must.
            describe: Gives the descriptions that are stored with a model.

        Raises:
            ModelError: The file exists, or cannot be created.
        """
        self.path = path
        self.size = self.rows = self.dropped = 0
        self.problem = ""
        self._describe = describe
        self._rings: deque[RingBuffer] = deque()
        self._begun: RingBuffer | None = None  # whose model is in the file
        self._ending = threading.Event()
        try:
            self._file: BinaryIO = path.open("xb", buffering=0)
        except FileExistsError:
            raise UserInputError(f"state log '{path}' exists; it is not overwritten") from None
        except OSError as error:
            raise UserInputError(
                f"state log '{path}' cannot be created: {error.strerror}"
            ) from error
        self._thread = threading.Thread(target=self._run, name="state log", daemon=True)
        self._thread.start()

    def add(self, ring: RingBuffer) -> None:
        """Write the rows of `ring` as well, after those of the rings before; from any thread."""
        self._rings.append(ring)

    def end(self) -> None:
        """Have what waits written and the file closed, soon."""
        for ring in tuple(self._rings):
            ring.closed = True
        self._ending.set()

    def close(self) -> None:
        """Write what waits, and close the file."""
        self.end()
        self._thread.join()

    def _run(self) -> None:
        try:
            with self._file:
                write_all(self._file, MAGIC)
                self.size += len(MAGIC)
                while not self._ending.wait(_PERIOD_S):
                    self._write_waiting()
                self._write_waiting()
        except OSError as error:
            self.problem = f"'{self.path}' cannot be written: {error.strerror}"
        except Exception as error:
            self.problem = f"'{self.path}' cannot be written: {type(error).__name__}: {error}"
        if self.problem:
            # What is added from now on goes nowhere, and costs nothing.
            for ring in tuple(self._rings):
                ring.closed = True
            _LOG.error("the state log ends: %s; the simulation goes on", self.problem)

    def _write_waiting(self) -> None:
        """Write the rows that wait; a ring that is closed and empty is done with."""
        while self._rings:
            ring = self._rings[0]
            closed = ring.closed  # before its rows are looked at
            if ring is not self._begun:
                told = describe_rows(ring, self._describe(ring.plant))
                self.size += write_record(self._file, SEGMENT, pack(ring.plant.model, told))
                self._begun = ring
            self._write_rows(ring)
            if not closed:
                return
            self.dropped += ring.dropped
            self._rings.popleft()

    def _write_rows(self, ring: RingBuffer) -> None:
        for rows in ring.waiting():
            count = rows.stop - rows.start
            columns = (ring.columns[field.name][rows] for field in ring.fields if field.size)
            numbers = (column.data.cast("B") for column in columns)
            self.size += write_record(self._file, ROWS, list(numbers))
            ring.take(count)
            self.rows += count
