"""ONNX files of users: only regular files, of limited size, that name no other file."""

import os
import threading
import time

import numpy as np
import pytest
from onnx_policies import (
    onnx,
    with_external_weights,
    with_operator,
    write_affine,
    write_large,
    write_loop,
)
from simulators import WAIT_LIMIT_S

from mujoco_ros.controllers.library.policy import network
from mujoco_ros.controllers.library.policy import network as network_module
from mujoco_ros.controllers.library.policy.network import Network, read_onnx
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.file_access import SizeLimit


@pytest.fixture
def policy(tmp_path):
    return write_affine(tmp_path / "policy.onnx", np.eye(3, 2))


def test_a_file_with_all_of_its_weights_is_read_whole(policy):
    assert read_onnx(policy) == policy.read_bytes()
    assert Network(policy).inputs == {}


def test_weights_in_another_file_are_not_read(policy):
    with_external_weights(policy, "weights.bin")
    assert (policy.parent / "weights.bin").exists()
    with pytest.raises(UserInputError, match=r"has its tensor 'weights' in another file, which"):
        read_onnx(policy)


@pytest.mark.parametrize("place", ["attribute", "branch", "function", "sparse"])
def test_weights_in_another_file_are_found_at_any_place(policy, place):
    model = onnx.load(policy)
    tensor = onnx.TensorProto(name="hidden", dims=[1], data_type=onnx.TensorProto.FLOAT)
    tensor.data_location = onnx.TensorProto.EXTERNAL
    node = onnx.helper.make_node("Constant", [], ["constant"])
    node.attribute.add(name="value", type=onnx.AttributeProto.TENSOR).t.CopyFrom(tensor)
    if place == "attribute":
        model.graph.node.append(node)
    elif place == "branch":
        choice = onnx.helper.make_node("If", ["flat"], ["chosen"])
        branch = choice.attribute.add(name="then_branch", type=onnx.AttributeProto.GRAPH).g
        branch.node.append(node)
        model.graph.node.append(choice)
    elif place == "function":
        model.functions.add(name="f", domain="d").node.append(node)
    else:
        model.graph.sparse_initializer.add().values.CopyFrom(tensor)
    policy.write_bytes(model.SerializeToString())
    with pytest.raises(UserInputError, match="has its tensor 'hidden' in another file"):
        read_onnx(policy)


def test_a_field_number_that_protobuf_would_truncate_hides_no_tensor(policy):
    model = onnx.load(policy)
    tensor = onnx.TensorProto(name="hidden", dims=[1], data_type=onnx.TensorProto.FLOAT)
    tensor.data_location = onnx.TensorProto.EXTERNAL
    content = tensor.SerializeToString()
    tag = bytes([(5 << 3 | 2) | 0x80, 0x80, 0x80, 0x80, 0x10])  # initializer, with bit 32
    graph = model.graph.SerializeToString() + tag + bytes([len(content)]) + content
    model.ClearField("graph")
    field = bytes([7 << 3 | 2, len(graph) & 0x7F | 0x80, len(graph) >> 7])
    policy.write_bytes(model.SerializeToString() + field + graph)
    with pytest.raises(UserInputError, match="is not an ONNX file"):
        read_onnx(policy)


def test_the_size_of_an_input_does_not_overflow(policy):
    model = onnx.load(policy)
    dimensions = model.graph.input[0].type.tensor_type.shape.dim
    dimensions[0].dim_value, dimensions[1].dim_value = 3, 6148914691236517206
    policy.write_bytes(model.SerializeToString())
    with pytest.raises(UserInputError, match=r"'obs' has 18446744073709551618 elements; the limit"):
        Network(policy)


def test_operators_of_libraries_are_not_loaded(policy):
    with_operator(policy, "Launch", "com.example")
    with pytest.raises(UserInputError, match=r"policy .* cannot be loaded: .*com\.example"):
        Network(policy)


@pytest.mark.parametrize("content", [b"", b"ORTM" * 20, b"\x08", b"\xff" * 40, b"name: policy"])
def test_other_files_are_rejected(policy, content):
    policy.write_bytes(content)
    with pytest.raises(UserInputError, match=f"policy '{policy}' (is not|cannot be loaded)"):
        Network(policy)


def test_a_truncated_file_is_rejected(policy):
    whole = policy.read_bytes()
    for size in range(1, len(whole), 7):
        policy.write_bytes(whole[:size])
        with pytest.raises(UserInputError):
            Network(policy).bind({"obs": 3}, "", 2, {})


def test_nested_graphs_have_a_limit(policy):
    model = onnx.load(policy)
    graph = model.graph
    for _ in range(20):
        node = graph.node.add(op_type="If")
        graph = node.attribute.add(name="then_branch", type=onnx.AttributeProto.GRAPH).g
    policy.write_bytes(model.SerializeToString())
    with pytest.raises(UserInputError, match="is not an ONNX file"):
        read_onnx(policy)


def test_a_file_has_a_largest_size(policy, monkeypatch):
    monkeypatch.setattr(network, "LARGEST_POLICY", SizeLimit(100, of_client=100))
    with pytest.raises(UserInputError, match="is too large: at most 100 bytes are read"):
        read_onnx(policy)


def test_only_regular_files_are_read(tmp_path):
    pipe = tmp_path / "pipe.onnx"
    os.mkfifo(pipe)
    with pytest.raises(UserInputError, match="is a named pipe; only regular files are read"):
        read_onnx(pipe)


def test_inputs_of_other_types_are_rejected(policy):
    model = onnx.load(policy)
    model.graph.input[0].type.tensor_type.elem_type = onnx.TensorProto.INT64
    model.graph.node[0].op_type = "Cast"
    del model.graph.node[0].input[1]
    model.graph.node[0].attribute.add(name="to", type=onnx.AttributeProto.INT, i=1)
    policy.write_bytes(model.SerializeToString())
    with pytest.raises(UserInputError, match=r"'obs' is a tensor\(int64\); supported are tensor"):
        Network(policy)


def bound(path, trips: float = 0.0) -> Network:
    network = Network(path)
    network.bind({"obs": 2}, "", 2, {})
    network.inputs["obs"][0, 0] = trips
    return network


def test_an_endless_loop_ends_when_the_policy_is_loaded(tmp_path, monkeypatch):
    monkeypatch.setattr(network_module, "RUN_S", 0.3)
    path = write_loop(tmp_path / "loop.onnx", 2, 2**62)
    with pytest.raises(UserInputError, match=r"cannot be run: it takes more than 0\.3 s of proc"):
        bound(path)


def test_an_endless_loop_ends_when_an_observation_starts_it(tmp_path, monkeypatch):
    monkeypatch.setattr(network_module, "RUN_S", 0.3)
    network = bound(write_loop(tmp_path / "loop.onnx", 2), trips=3.0)
    network.run()
    np.testing.assert_array_equal(network.output, [[6.0, 3.0]])
    for _ in range(2):
        network.inputs["obs"][0, 0] = 2.0**62
        with pytest.raises(RuntimeError, match=r"it takes more than 0\.3 s of processor time"):
            network.run()
        network.inputs["obs"][0, 0] = 4.0
        network.run()
        np.testing.assert_array_equal(network.output, [[8.0, 4.0]])


def test_a_network_that_needs_too_much_memory_is_an_error(tmp_path):
    bound(write_large(tmp_path / "small.onnx", 2, 10**6)).run()
    with pytest.raises(UserInputError, match=r"cannot be run: .*ConstantOfShape"):
        bound(write_large(tmp_path / "large.onnx", 2, 1 << 32))  # 16 GiB


def test_the_watching_thread_ends_with_its_network(policy):
    before = threading.active_count()
    network = bound(write_loop(policy.parent / "loop.onnx", 2), trips=3.0)
    network.run()
    assert threading.active_count() > before
    del network
    deadline = time.monotonic() + WAIT_LIMIT_S
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert threading.active_count() <= before
