"""The generated pages agree with the code."""

import sys
from pathlib import Path
from types import ModuleType

import pytest
from docs_scripts import load_cached_script

pytest.importorskip("rclpy", reason="the pages are generated from parameters and topics")
pytest.importorskip("unitree_go", reason="a shipped extension uses it")


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    return load_cached_script("generate", "PAGES")


def test_the_committed_pages_equal_the_output_of_the_generator(
    generator: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["generate.py", "--check"])
    generator.main()


def test_a_page_that_is_out_of_date_is_named_and_not_changed(
    generator: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(generator, "DOCS", tmp_path)
    monkeypatch.setattr(sys, "argv", ["generate.py"])
    generator.main()
    stale = tmp_path / "reference" / "parameters.md"
    stale.write_text(stale.read_text().replace("| `tf` |", "| `tef` |"))
    before = stale.read_text()
    monkeypatch.setattr(sys, "argv", ["generate.py", "--check"])

    with pytest.raises(SystemExit) as ended:
        generator.main()

    assert str(ended.value).startswith("docs/reference/parameters.md out of date")
    assert stale.read_text() == before
