"""Tables of texts, whose rows change."""

from collections.abc import Sequence

from mujoco_ros.viewer.page.live import LiveElement
from mujoco_ros.viewer.page.session import current_session
from mujoco_ros.viewer.page.widgets import Column


class TextTable(LiveElement):
    """A table of texts."""

    def show(self, rows: Sequence[Sequence[str]]) -> None:
        """Show rows: the tone of each, or ``strong``, and its texts."""
        self.set(rows=[list(row) for row in rows])


def rows_table(name: str, columns: Sequence[Column]) -> TextTable:
    """Create a table in the order of its rows."""
    described = [(label, unit, "wide" if wide else "") for label, unit, wide in columns]
    return _table(name, described, None).classes("rows")


def sorted_table(
    name: str, columns: Sequence[tuple[str, str, bool]], *, by: int, down: bool = True
) -> TextTable:
    """Create a table in the order of a column that the user chooses, at first `by`.

    Columns have a label, a unit, and whether they are numbers.
    """
    described = [(label, unit, "" if number else "words") for label, unit, number in columns]
    return _table(name, described, (by, down)).classes("sorted-table")


def _table(
    name: str, columns: Sequence[tuple[str, str, str]], sort: tuple[int, bool] | None
) -> TextTable:
    """Create a table; columns have a label, a unit and a class."""
    options = {"columns": columns, "sort": sort}
    feed = current_session().feed
    created = TextTable(feed, "table", tag="table", options=options, state={"rows": []})
    created._props["aria-label"] = name
    return created.classes("table")
