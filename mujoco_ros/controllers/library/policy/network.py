"""A neural network of an ONNX file, with arrays that every run reads and writes.

The fields have their numbers in onnx.proto3 of ONNX 1.23. onnxruntime reads weights in other
files when it loads a model, so a model is searched for such references first.
"""

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from mujoco_ros.controllers.library.policy.processor_limit import ProcessorLimit
from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.file_access import SizeLimit, read_file

LARGEST_POLICY = SizeLimit(1 << 28, of_client=1 << 26)  # largest ONNX file that is read [byte]
_MAX_DEPTH = 32
_Message = dict[int, str]
_MESSAGES: dict[str, _Message] = {
    "model": {7: "graph", 20: "training", 25: "function"},
    "graph": {1: "node", 5: "tensor", 15: "sparse tensor"},
    "training": {1: "graph", 2: "graph"},
    "function": {7: "node", 11: "attribute"},
    "node": {5: "attribute"},
    "attribute": {
        5: "tensor",
        6: "graph",
        10: "tensor",
        11: "graph",
        22: "sparse tensor",
        23: "sparse tensor",
    },
    "sparse tensor": {1: "tensor", 2: "tensor"},
    "tensor": {},
}
"""The messages inside each message that can contain tensors, by the number of the field."""
_NAME, _EXTERNAL_DATA, _DATA_LOCATION = 8, 13, 14  # fields of a tensor
_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5  # types of fields in the protobuf encoding


def read_onnx(path: Path) -> bytes:
    """Read an ONNX file, or raise a UserInputError for a file with weights in other files."""
    content = read_file(path, "policy", largest=LARGEST_POLICY)
    try:
        _check(memoryview(content), "model", 0)
    except _ExternalDataError as error:
        raise UserInputError(
            f"policy '{path}' has its tensor '{error}' in another file, which is not read; export "
            "it as one file"
        ) from None
    except (IndexError, UnicodeDecodeError):
        raise UserInputError(f"policy '{path}' is not an ONNX file") from None
    return content


class _ExternalDataError(Exception):
    """A tensor is in another file; the message is its name."""


def _check(message: memoryview, kind: str, depth: int) -> None:
    if depth > _MAX_DEPTH:
        raise IndexError
    inner = _MESSAGES[kind]
    name, is_external = "", False
    for number, value in _fields(message):
        if number in inner and isinstance(value, memoryview):
            _check(value, inner[number], depth + 1)
        elif kind == "tensor":
            if number == _NAME and isinstance(value, memoryview):
                name = str(value, "utf-8")
            is_external |= number == _EXTERNAL_DATA or (number == _DATA_LOCATION and value != 0)
    if is_external:
        raise _ExternalDataError(name)


def _fields(message: memoryview) -> Iterator[tuple[int, memoryview | int]]:
    """Yield number and value of each field; IndexError if the encoding is invalid."""
    at, end = 0, len(message)
    while at < end:
        key, at = _varint(message, at)
        if key >> 32:  # protobuf would take the lower bits only
            raise IndexError
        kind, value = key & 7, memoryview(b"")
        if kind == _VARINT:
            number, at = _varint(message, at)
            yield key >> 3, number
            continue
        if kind == _LENGTH:
            size, at = _varint(message, at)
        elif kind in (_FIXED32, _FIXED64):
            size = 4 if kind == _FIXED32 else 8
        else:
            raise IndexError
        if at + size > end:
            raise IndexError
        value, at = message[at : at + size], at + size
        yield key >> 3, value


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    """Return an integer at a position, and the position behind it."""
    value = 0
    for shift in range(0, 70, 7):
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise IndexError


_TYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64}
_LARGEST_SIZE = 1 << 24  # largest number of elements of an input or output
LOAD_S, RUN_S = 60.0, 10.0  # processor time for loading a file, and for one run [s]
_MEMORY_BYTES = 4 << 30  # memory of all networks of a process [byte], with their weights


class Network:
    """Runs an ONNX file in the thread of the caller."""

    def __init__(self, path: Path) -> None:
        """Load a file, or raise a UserInputError that says why onnxruntime cannot run it."""
        import onnxruntime  # an optional part, which takes long to import

        content = read_onnx(path)
        _limit_memory()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
        options.log_severity_level = 4  # errors are exceptions
        options.add_session_config_entry("session.load_model_format", "ONNX")
        options.add_session_config_entry("session.use_env_allocators", "1")
        # Before onnxruntime 1.21, only runs can be cancelled.
        cancel: Any = getattr(options, "set_load_cancellation_flag", bool)
        loading = ProcessorLimit(LOAD_S, partial(cancel, True))
        try:
            with loading.applied():
                session = onnxruntime.InferenceSession(
                    content, options, providers=["CPUExecutionProvider"]
                )
        except Exception as error:  # the classes of onnxruntime have no common base
            reason = _reason(error, loading, LOAD_S)
            raise UserInputError(f"policy '{path}' cannot be loaded: {reason}") from error
        self.path, self._session = path, session
        self._run_options = onnxruntime.RunOptions()
        self._run_options.log_severity_level = options.log_severity_level
        # Each run reads it, and takes ten times as long where it is missing.
        self._run_options.add_run_config_entry("gpu_graph_id", "-1")
        self._running = ProcessorLimit(
            RUN_S, partial(setattr, self._run_options, "terminate", True)
        )
        # Texts in the file by name
        self.metadata: Mapping[str, str] = session.get_modelmeta().custom_metadata_map
        self._input_shapes = {
            argument.name: _Signature(argument, path) for argument in session.get_inputs()
        }
        self._output_shapes = {
            argument.name: _Signature(argument, path) for argument in session.get_outputs()
        }
        # The inputs by name, which a run reads, without the memory's inputs
        self.inputs: dict[str, np.ndarray] = {}
        self.output = np.empty(0, dtype=np.float32)  # the output, which a run writes
        self._memory: list[tuple[np.ndarray, np.ndarray]] = []

    def check_input(self, name: str) -> None:
        """Raise a UserInputError if there is no such input."""
        if name not in self._input_shapes:
            raise unknown("input", name, self._input_shapes)

    def bind(
        self, sizes: Mapping[str, int], output: str, output_size: int, memory: Mapping[str, str]
    ) -> None:
        """Allocate the arrays of all runs.

        Args:
            sizes: Number of elements of each input that the caller writes.
            output: Name of the output; empty is the only one that is not in `memory`.
            output_size: Its number of elements.
            memory: Inputs by name that have the value of an output of the last run.

        Raises:
            UserInputError: An input or output is missing or unknown, or its shape does not fit.
        """
        for name in (*sizes, *memory):
            self.check_input(name)
        for name in self._input_shapes:
            if (name in sizes) + (name in memory) != 1:
                problem = "is given twice" if name in sizes else "is missing"
                raise UserInputError(f"input '{name}' {problem} in inputs and memory")
        others = [name for name in self._output_shapes if name not in memory.values()]
        output = output or (others[0] if len(others) == 1 else output)
        for name in (output, *memory.values()):
            if name not in self._output_shapes:
                raise unknown("output", name, self._output_shapes)
        if output in memory.values():
            raise UserInputError(f"output '{output}' has the actions, and is in memory")
        self.inputs = {name: self._input_shapes[name].array(size) for name, size in sizes.items()}
        self.output = self._output_shapes[output].array(output_size)
        for name, array in (*self.inputs.items(), (output, self.output)):
            expected = output_size if array is self.output else sizes[name]
            if array.size != expected:
                raise UserInputError(f"'{name}' has {array.size} values, not {expected}")
        arrays = dict(self.inputs)
        results = {output: self.output}
        self._memory = []
        for source, target in memory.items():
            given, new = self._input_shapes[source], self._output_shapes[target]
            arrays[source], results[target] = given.array(), new.array()
            if arrays[source].shape != results[target].shape or given.kind != new.kind:
                raise UserInputError(
                    f"input '{source}' of the memory has {given}, and output '{target}' has {new}"
                )
            self._memory.append((arrays[source], results[target]))
        binding = self._session.io_binding()
        for name, array in arrays.items():
            binding.bind_input(name, "cpu", 0, array.dtype.type, array.shape, array.ctypes.data)
        for name, array in results.items():
            binding.bind_output(name, "cpu", 0, array.dtype.type, array.shape, array.ctypes.data)
        self._binding, self._arrays = binding, (arrays, results)  # the binding has their addresses
        self.forget()
        for array in self.inputs.values():
            array.fill(0.0)
        try:
            self.run()  # the first run allocates, and finds shapes that do not fit inside
        except Exception as error:
            reason = _reason(error, self._running, RUN_S)
            raise UserInputError(f"it cannot be run: {reason}") from error
        self.forget()

    def size(self, name: str) -> int | None:
        """Return the number of elements of an input; None if the file leaves it open."""
        return self._input_shapes[name].size if name in self._input_shapes else None

    def axes(self, name: str) -> Sequence[int | None] | None:
        """Return the shape of an input, None for open axes; None without such an input."""
        return self._input_shapes[name].axes if name in self._input_shapes else None

    def output_size(self, name: str, memory: Mapping[str, str]) -> int | None:
        """Return the number of elements of the output that `bind` selects, as `size`."""
        others = [other for other in self._output_shapes if other not in memory.values()]
        name = name or (others[0] if len(others) == 1 else name)
        return self._output_shapes[name].size if name in self._output_shapes else None

    def forget(self) -> None:
        for given, _ in self._memory:
            given.fill(0.0)

    def run(self) -> None:
        """Compute the output, and update the memory; RuntimeError after `RUN_S` on a processor."""
        self._running.begin()
        try:
            self._session.run_with_iobinding(self._binding, self._run_options)
        except Exception as error:
            raise RuntimeError(_reason(error, self._running, RUN_S)) from error
        finally:
            self._running.end()
            if self._running.is_exceeded:
                self._run_options.terminate = False
        for given, new in self._memory:
            np.copyto(given, new)


@cache
def _limit_memory() -> None:
    """Limit the memory of the networks of this process."""
    import onnxruntime

    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    kind = onnxruntime.OrtAllocatorType.ORT_ARENA_ALLOCATOR
    memory = onnxruntime.OrtMemoryInfo("Cpu", kind, 0, onnxruntime.OrtMemType.DEFAULT)
    # -1 is the default of the other settings of an arena.
    arena = onnxruntime.OrtArenaCfg(min(total // 2, _MEMORY_BYTES), -1, -1, -1)
    onnxruntime.create_and_register_allocator(memory, arena)


def _reason(error: Exception, limit: ProcessorLimit, limit_s: float) -> str:
    """Return the reason of an error of onnxruntime in one line."""
    if limit.is_exceeded:
        return f"it takes more than {limit_s:g} s of processor time"
    return " ".join(str(error).split())


class _Signature:
    """Type and shape of an input or output."""

    def __init__(self, argument: Any, path: Path) -> None:
        if argument.type not in _TYPES:
            raise UserInputError(
                f"policy '{path}': '{argument.name}' is a {argument.type}; supported are "
                f"{', '.join(_TYPES)}"
            )
        self.kind = _TYPES[argument.type]
        # An open axis has a name, or nothing; the first one is the batch.
        axes = [axis if isinstance(axis, int) else None for axis in argument.shape]
        if axes and axes[0] is None and len(axes) > 1:
            axes[0] = 1
        self.axes = axes  # the shape; open axes are None, and the batch's axis is 1
        open_axes = axes.count(None)
        self._fixed = math.prod(axis for axis in axes if axis is not None)
        if not 0 < self._fixed <= _LARGEST_SIZE:
            raise UserInputError(
                f"policy '{path}': '{argument.name}' has {self._fixed} elements; the limit is "
                f"{_LARGEST_SIZE}"
            )
        self.size = None if open_axes else self._fixed

    def array(self, size: int | None = None) -> np.ndarray:
        """Return an array of the shape; `size` determines open axes."""
        axes = [axis if axis is not None else 1 for axis in self.axes]
        if size is not None and None in self.axes:
            axes[self.axes.index(None)] = -(-size // self._fixed)
        return np.zeros(axes, dtype=self.kind)

    def __str__(self) -> str:
        return f"the shape [{', '.join('?' if axis is None else str(axis) for axis in self.axes)}]"
