import json

import numpy as np

from benchmark.report import MJ_STEP, Row, percentiles, result, save, table


def test_a_record_holds_what_the_table_shows(tmp_path):
    rows = [
        result("d", "factor", 9.54, "x", 2, limit="≥ 6", keeps=lambda value: value >= 6),
        Row(key="e", quantity="misses", value=np.int64(76), unit="of 60082", text="76"),
        result("f", "growth", np.float64(3.0), "MB", limit="± 1", keeps=lambda value: value <= 1),
    ]
    record, page = save(tmp_path, "day", {"cores": "2"}, ["quiet"], rows)
    saved = json.loads(record.read_text())
    assert [row["value"] for row in saved["rows"]] == [9.54, 76, 3.0]
    assert [row["good"] for row in saved["rows"]] == [True, None, False]
    assert "| d | factor | 9.54 | x |  | ≥ 6 | pass |" in page.read_text()
    assert "FAIL" in table(rows)


def test_results_of_others_have_a_column_if_there_are_any():
    alone = result("r", "planning", 17.0, "ms")
    beside = result("r", "cycle", 5.2, "s", limit="≤ 6.5", keeps=lambda _: True, others="8.2")
    assert "others report" not in table([alone])
    assert beside.cells() == ("r", "cycle", "5.2", "s", "", "≤ 6.5", "pass", "8.2")
    assert table([alone, beside]).splitlines()[-1].endswith("  8.2")


def test_percentiles_keep_the_limits_they_have():
    values = np.arange(101.0)
    rows = percentiles("k", "round trip", values, 50, 99, 100, unit="ms", below={50: 51, 99: 99})
    assert [row.value for row in rows] == [50, 99, 100]
    assert [row.good for row in rows] == [True, False, None]
    assert [row.limit for row in rows] == ["< 51", "< 99", ""]
    assert rows[1].cells() == ("k", "round trip, p99", "99.00", "ms", "", "< 99", "FAIL", "")


def test_a_duration_is_given_in_steps_of_the_engine_and_other_fixed_work() -> None:
    yardsticks = {MJ_STEP: 25.0, "copy": 5000.0}
    row = result("g", "start", 0.5, "s").compared(yardsticks)
    assert row.yardsticks == {MJ_STEP: 20_000.0, "copy": 100.0}
    assert row.cells()[4] == "2e+04"
    assert result("d", "factor", 9.5, "×").compared(yardsticks).cells()[4] == ""
