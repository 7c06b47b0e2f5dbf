"""The page of simulation control lists every service, and its error codes exist."""

import re
from pathlib import Path

import pytest

pytest.importorskip("simulation_interfaces", reason="ROS 2 is not installed here")

import simulation_interfaces.msg
import simulation_interfaces.srv

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "reference" / "simulation_control.md").read_text(encoding="utf-8")
ROWS = {
    name: row
    for row in re.findall(r"^\| .*`.* \|$", PAGE, flags=re.M)
    for name in re.findall(r"`(\w+)`", row.split("|")[1])
}
SERVICES = [name for name in dir(simulation_interfaces.srv) if re.fullmatch(r"[A-Z]\w+[a-z]", name)]
CODE = re.compile(r"`([A-Z]+(?:_[A-Z]+)+)`")


def requested(name: str) -> type:
    return getattr(simulation_interfaces.srv, name)


def test_every_service_of_the_standard_has_a_row() -> None:
    assert {name for name in SERVICES if hasattr(requested(name), "Request")} <= set(ROWS)


def test_the_codes_of_a_row_are_those_of_the_service_or_of_all_services() -> None:
    for service in set(ROWS) & set(SERVICES):
        for code in CODE.findall(ROWS[service]):
            of_service = hasattr(requested(service).Response, code)
            assert of_service or hasattr(simulation_interfaces.msg.Result, code), (service, code)


def test_every_result_code_of_the_spawn_service_is_documented_or_unused() -> None:
    response = simulation_interfaces.srv.SpawnEntity.Response
    codes = {name for name in dir(response) if isinstance(getattr(response, name), int)}
    assert codes - set(CODE.findall(ROWS["SpawnEntity"])) == {"UNSUPPORTED_ASSETS"}
