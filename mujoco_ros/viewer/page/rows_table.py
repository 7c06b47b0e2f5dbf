"""Tables of texts."""

from collections.abc import Sequence

from mujoco_ros.viewer.page.live import LiveElement
from mujoco_ros.viewer.page.session import current_session
from mujoco_ros.viewer.page.widgets import Column


class Rows(LiveElement):
    """A table of texts, whose rows change."""

    def show(self, rows: Sequence[Sequence[str]]) -> None:
        """Show rows: the tone of each, or ``strong``, and its texts."""
        self.set(rows=[list(row) for row in rows])


def rows_table(name: str, columns: Sequence[Column]) -> Rows:
    """Create a table of texts."""
    options = {"columns": [list(column) for column in columns]}
    created = Rows(current_session().feed, "rows", tag="table", options=options, state={"rows": []})
    created._props["aria-label"] = name
    return created.classes("table rows")
