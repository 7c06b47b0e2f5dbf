"""A table that the user sorts."""

from collections.abc import Sequence

from mujoco_ros.viewer.page.live import LiveElement
from mujoco_ros.viewer.page.session import current_session


class SortedTable(LiveElement):
    """A table whose rows change, in the order of a column that the user chooses."""

    def show(self, rows: Sequence[Sequence[str]]) -> None:
        """Show rows of texts; one more text is the tone of a row."""
        self.set(rows=[list(row) for row in rows])


def sorted_table(
    name: str, columns: Sequence[tuple[str, str, bool]], *, by: int, down: bool = True
) -> SortedTable:
    """Create a table; columns have a label, a unit, and whether they are numbers."""
    options = {"name": name, "columns": [list(column) for column in columns], "sort": [by, down]}
    feed = current_session().feed
    created = SortedTable(feed, "sorted_table", tag="table", options=options, state={"rows": []})
    return created.classes("table sorted-table")
