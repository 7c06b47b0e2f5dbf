"""A network of brax as an ONNX file."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from training.result_files import replace_file

_OPSET, _IR_VERSION = 17, 8
Layer = tuple[np.ndarray, np.ndarray]
"""Weights and bias.  # (inputs, outputs), (outputs,)"""


def policy_layers(
    mean: np.ndarray, deviation: np.ndarray, parameters: Mapping[str, Any], actions: int
) -> list[Layer]:
    """Return the layers of a policy, the normalisation of its input included in the first one.

    Args:
        mean: Means of the input.  # (n,)
        deviation: Standard deviations of the input.  # (n,)
        parameters: Parameters of flax by layer, ``hidden_0`` to the last one, whose outputs are
            locations and scales of the distributions of the actions.
        actions: Number of actions.
    """
    layers = [
        (np.asarray(layer["kernel"], dtype=np.float64), np.asarray(layer["bias"], dtype=np.float64))
        for layer in (parameters[f"hidden_{number}"] for number in range(len(parameters)))
    ]
    weights, bias = layers[0]
    layers[0] = weights / deviation[:, None], bias - (mean / deviation) @ weights
    weights, bias = layers[-1]
    layers[-1] = weights[:, :actions], bias[:actions]  # the locations
    return [(w.astype(np.float32), b.astype(np.float32)) for w, b in layers]


def write_policy(path: Path, layers: Sequence[Layer], metadata: Mapping[str, str]) -> None:
    """Write ``actions = tanh(…)`` with swish between the layers; the input is named ``obs``."""
    nodes, constants, given = [], [], "obs"
    for number, (weights, bias) in enumerate(layers):
        names = [f"{kind}_{number}" for kind in ("weights", "bias", "sum", "gate", "hidden")]
        constants += [
            numpy_helper.from_array(values, name)
            for name, values in zip(names, (weights, bias), strict=False)
        ]
        _, _, total, gate, hidden = names
        nodes.append(helper.make_node("Gemm", [given, names[0], names[1]], [total]))
        if number + 1 < len(layers):
            nodes.append(helper.make_node("Sigmoid", [total], [gate]))
            nodes.append(helper.make_node("Mul", [total, gate], [hidden]))
        else:
            nodes.append(helper.make_node("Tanh", [total], ["actions"]))
        given = hidden
    inputs, outputs = layers[0][0].shape[0], layers[-1][0].shape[1]
    graph = helper.make_graph(
        nodes,
        "policy",
        [helper.make_tensor_value_info("obs", TensorProto.FLOAT, [1, inputs])],
        [helper.make_tensor_value_info("actions", TensorProto.FLOAT, [1, outputs])],
        constants,
    )
    opset = helper.make_opsetid("", _OPSET)
    model = helper.make_model(graph, opset_imports=[opset], ir_version=_IR_VERSION)
    helper.set_model_props(model, dict(metadata))
    onnx.checker.check_model(model, full_check=True)
    replace_file(path, model.SerializeToString())
