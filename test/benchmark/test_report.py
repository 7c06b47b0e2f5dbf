import json

import numpy as np

from benchmark.report import Row, figure, save, table


def test_a_record_holds_what_the_table_shows(tmp_path):
    rows = [
        figure("d", "factor", 9.54, "x", 2, limit="≥ 6", keeps=lambda value: value >= 6),
        Row(key="e", quantity="misses", value=np.int64(76), unit="of 60082", text="76"),
        figure("f", "growth", np.float64(3.0), "MB", limit="± 1", keeps=lambda value: value <= 1),
    ]
    record, page = save(tmp_path, "day", {"cores": "2"}, ["quiet"], rows)
    saved = json.loads(record.read_text())
    assert [row["value"] for row in saved["rows"]] == [9.54, 76, 3.0]
    assert [row["good"] for row in saved["rows"]] == [True, None, False]
    assert "| d | factor | 9.54 | x | ≥ 6 | pass |" in page.read_text()
    assert "FAIL" in table(rows)
