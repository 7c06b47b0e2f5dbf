"""The executable `draw_controller`."""

import re
import sys

import pytest

from mujoco_ros.cli.draw_controller import main

TABLE = "{rate: 100, initial: A, states: {A: {class: Hold, outcome: ok}}}"


def test_a_diagram_goes_to_a_file_or_to_the_standard_output(tmp_path, capsys):
    pytest.importorskip("pygraphviz")
    table, diagram = tmp_path / "still.yaml", tmp_path / "still.svg"
    table.write_text(TABLE)
    assert main([str(table), "-o", str(diagram)]) == 0
    assert main([str(table)]) == 0
    assert capsys.readouterr().out == diagram.read_text()
    assert diagram.read_text().startswith("<svg")


def test_without_graphviz_it_is_a_list_of_states_and_transitions(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    assert main(["stand"]) == 0
    lines = re.findall(r"<text[^>]*>(.*?)</text>", capsys.readouterr().out)
    assert "READY   GetReady" in lines
    assert lines[lines.index("READY   GetReady") + 1] == "    done → HOLD"


def test_a_diagram_that_cannot_be_drawn_is_an_error_in_one_line(tmp_path, capsys):
    assert main(["nothing_of_the_kind"]) == 1
    message = "mujoco_ros: error: controller 'nothing_of_the_kind' not found; there are: "
    assert capsys.readouterr().err.startswith(message)
    table = tmp_path / "still.yaml"
    table.write_text(TABLE)
    assert main([str(table), "-o", str(tmp_path / "none" / "x.svg")]) == 1
    assert "mujoco_ros: error: " in capsys.readouterr().err
