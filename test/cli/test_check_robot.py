"""The executable `check_robot`."""

import json

from mujoco_ros.cli.check_robot import main

ROBOT = """<mujoco><worldbody><body name="arm"><joint name="elbow"/><geom size=".1" pos=".2 0 0"/>
</body></worldbody><actuator><position joint="elbow" kp="100" kv="10"/></actuator></mujoco>"""


def test_a_model_that_loads_is_reported_on_as_text_json_and_html(tmp_path, capsys):
    model, page = tmp_path / "crane.xml", tmp_path / "crane.html"
    model.write_text(ROBOT)
    assert main([str(model), "--html", str(page)]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("check_robot ")
    assert "robot 'crane'" in out
    assert err == ""
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert main([str(model), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    (robot,) = report["robots"]
    assert [joint["name"] for joint in robot["joints"]] == ["elbow"]
    assert robot["joints"][0]["limits"] is None


def test_a_model_that_does_not_load_is_refused_in_one_sentence(tmp_path, capsys):
    model = tmp_path / "robot.urdf"
    model.write_text("<robot name='empty'/>")
    assert main([str(model)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("mujoco_ros: error: ")
    assert "the robot has no link" in err
    assert len(err.splitlines()) == 1
