"""Small policies in ONNX files."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnxruntime", reason="onnxruntime is missing; `make setup` installs it")
pytest.importorskip("onnx", reason="onnx is missing; `make setup` installs it")

import onnx
from onnx import TensorProto, helper, numpy_helper

_OPSET, _IR_VERSION = 17, 8


def write_affine(
    path: Path,
    weights: np.ndarray,
    bias: np.ndarray | None = None,
    *,
    input_shape: Sequence[int | str] | None = None,
    metadata: Mapping[str, str] | None = None,
) -> Path:
    """Write ``actions = obs · weights + bias``.  # (inputs, outputs), (outputs,)"""
    inputs, outputs = weights.shape
    bias = np.zeros(outputs) if bias is None else bias
    nodes = [
        helper.make_node("Reshape", ["obs", "flat"], ["row"]),
        helper.make_node("MatMul", ["row", "weights"], ["product"]),
        helper.make_node("Add", ["product", "bias"], ["actions"]),
    ]
    constants = {
        "flat": np.array([1, inputs], dtype=np.int64),
        "weights": weights.astype(np.float32),
        "bias": bias.astype(np.float32),
    }
    return _write(
        path,
        nodes,
        {"obs": input_shape or [1, inputs]},
        {"actions": [1, outputs]},
        constants,
        metadata,
    )


def write_counter(path: Path, size: int) -> Path:
    """Write a recurrent policy: ``actions = memory + obs``, which is its next memory."""
    nodes = [
        helper.make_node("Add", ["obs", "h_in"], ["actions"]),
        helper.make_node("Identity", ["actions"], ["h_out"]),
    ]
    shape = [1, size]
    return _write(path, nodes, {"obs": shape, "h_in": shape}, {"actions": shape, "h_out": shape})


def write_brightness(path: Path, shape: Sequence[int], size: int) -> Path:
    """Write actions that are the mean of an input ``image``."""
    nodes = [
        helper.make_node("ReduceMean", ["image"], ["mean"], keepdims=0),
        helper.make_node("Expand", ["mean", "shape"], ["actions"]),
    ]
    constants = {"shape": np.array([1, size], dtype=np.int64)}
    return _write(path, nodes, {"image": shape}, {"actions": [1, size]}, constants)


def write_loop(path: Path, size: int, trips: int | None = None) -> Path:
    """Write a loop that adds 1 in each trip; without a number, of as many trips as ``obs[0]``."""
    kinds = {"trip": TensorProto.INT64, "again": TensorProto.BOOL, "next": TensorProto.BOOL}
    shapes = {"sum": [1, size], "sum_out": [1, size]}

    def value(name: str) -> onnx.ValueInfoProto:
        kind = kinds.get(name, TensorProto.FLOAT)
        return helper.make_tensor_value_info(name, kind, shapes.get(name, []))

    body = helper.make_graph(
        [
            helper.make_node("Identity", ["again"], ["next"]),
            helper.make_node("Add", ["sum", "one"], ["sum_out"]),
        ],
        "body",
        [value("trip"), value("again"), value("sum")],
        [value("next"), value("sum_out")],
    )
    nodes = [
        helper.make_node("Gather", ["obs", "first"], ["column"], axis=1),
        helper.make_node("Cast", ["column"], ["counted"], to=TensorProto.INT64),
        helper.make_node("Reshape", ["counted", "scalar"], ["count"]),
        helper.make_node(
            "Loop", ["trips" if trips else "count", "", "obs"], ["actions"], body=body
        ),
    ]
    constants = {
        "one": np.ones((1, size), dtype=np.float32),
        "first": np.array([0], dtype=np.int64),
        "scalar": np.array([], dtype=np.int64),
        "trips": np.array(trips or 0, dtype=np.int64),
    }
    return _write(path, nodes, {"obs": [1, size]}, {"actions": [1, size]}, constants)


def write_large(path: Path, size: int, elements: int) -> Path:
    """Write actions that are the observation plus the sum of many zeros, made while it runs."""
    nodes = [
        helper.make_node("ConstantOfShape", ["elements"], ["zeros"]),
        helper.make_node("ReduceSum", ["zeros"], ["sum"], keepdims=0),
        helper.make_node("Add", ["obs", "sum"], ["actions"]),
    ]
    constants = {"elements": np.array([elements], dtype=np.int64)}
    return _write(path, nodes, {"obs": [1, size]}, {"actions": [1, size]}, constants)


def write_inverse(path: Path, size: int) -> Path:
    """Write ``actions = log(obs)``, which is NaN for negative numbers."""
    nodes = [helper.make_node("Log", ["obs"], ["actions"])]
    return _write(path, nodes, {"obs": [1, size]}, {"actions": [1, size]})


def write_two_inputs(path: Path, size: int) -> Path:
    """Write ``actions = position + 10 command`` with open batches."""
    nodes = [
        helper.make_node("Mul", ["command", "ten"], ["large"]),
        helper.make_node("Add", ["position", "large"], ["actions"]),
    ]
    return _write(
        path,
        nodes,
        {"position": ["batch", size], "command": ["batch", 1]},
        {"actions": ["batch", size]},
        {"ten": np.array(10.0, dtype=np.float32)},
    )


def with_external_weights(path: Path, where: str) -> Path:
    """Move the weights of a policy to another file."""
    model = onnx.load(path)
    for tensor in model.graph.initializer:
        if tensor.name == "weights":
            tensor.data_location = TensorProto.EXTERNAL
            for key, value in {"location": where, "offset": "0"}.items():
                tensor.external_data.add(key=key, value=value)
            Path(path.parent, where).write_bytes(tensor.raw_data)
            tensor.ClearField("raw_data")
    path.write_bytes(model.SerializeToString())
    return path


def with_operator(path: Path, operator: str, domain: str) -> Path:
    """Replace the last operator of a policy."""
    model = onnx.load(path)
    model.graph.node[-1].op_type, model.graph.node[-1].domain = operator, domain
    model.opset_import.append(helper.make_opsetid(domain, 1))
    path.write_bytes(model.SerializeToString())
    return path


def _write(
    path: Path,
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, Sequence[int | str]],
    outputs: Mapping[str, Sequence[int | str]],
    constants: Mapping[str, np.ndarray] | None = None,
    metadata: Mapping[str, str] | None = None,
) -> Path:
    def declared(shapes: Mapping[str, Sequence[int | str]]) -> list[onnx.ValueInfoProto]:
        return [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
            for name, shape in shapes.items()
        ]

    graph = helper.make_graph(
        nodes,
        "policy",
        declared(inputs),
        declared(outputs),
        [numpy_helper.from_array(values, name) for name, values in (constants or {}).items()],
    )
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR_VERSION
    )
    helper.set_model_props(model, dict(metadata or {}))
    path.write_bytes(model.SerializeToString())
    return path
