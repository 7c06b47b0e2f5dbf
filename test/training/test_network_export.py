"""A network of brax becomes an ONNX file with the same output."""

from itertools import pairwise

import numpy as np
import pytest

pytest.importorskip("onnxruntime", reason="`make setup` installs onnxruntime")
pytest.importorskip("onnx", reason="`make setup` installs onnx")

import onnxruntime

from training.network_export import policy_layers, write_policy


def swish(values):
    return values / (1.0 + np.exp(-values))


def test_the_file_computes_the_normalised_network(tmp_path):
    random = np.random.default_rng(2)
    sizes = [5, 8, 7, 6]
    parameters = {
        f"hidden_{number}": {
            "kernel": random.normal(size=shape),
            "bias": random.normal(size=shape[1]),
        }
        for number, shape in enumerate(pairwise(sizes))
    }
    mean, deviation = random.normal(size=5), random.uniform(0.1, 3.0, size=5)
    layers = policy_layers(mean, deviation, parameters, 3)
    write_policy(tmp_path / "policy.onnx", layers, {"seed": "2"})
    session = onnxruntime.InferenceSession(tmp_path / "policy.onnx")
    assert session.get_modelmeta().custom_metadata_map == {"seed": "2"}
    for _ in range(20):
        given = random.normal(size=5).astype(np.float32)
        value = (given - mean) / deviation
        for number in range(3):
            layer = parameters[f"hidden_{number}"]
            value = value @ layer["kernel"] + layer["bias"]
            value = swish(value) if number < 2 else np.tanh(value[:3])
        (actions,) = session.run(None, {"obs": given[None]})
        np.testing.assert_allclose(actions[0], value, atol=1e-5)
