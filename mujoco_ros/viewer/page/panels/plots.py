"""The panel "Plots": signals of the robots and fields of messages over time."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from nicegui import run, ui
from nicegui.background_tasks import create

from mujoco_ros.model.naming import topic_token
from mujoco_ros.viewer.page import widgets
from mujoco_ros.viewer.page.chart import SPANS_S, Chart
from mujoco_ros.viewer.page.panel import Area, Panel
from mujoco_ros.viewer.page.panels.plot_choices import PlotChoices
from mujoco_ros.viewer.page.popups import popup
from mujoco_ros.viewer.page.session import Session
from mujoco_ros.viewer.plots.plotted import table


class PlotsPanel(Panel):
    """A plot per unit of what is chosen; a click shows the state of a time."""

    title = "Plots"
    area = Area.BOTTOM

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._plotted = session.shared.plotted
        self._span_s = 10.0

    def settings(self) -> dict[str, Any]:
        return self._plotted.settings() | {"span_s": self._span_s}

    def restore(self, settings: Mapping[str, Any]) -> None:
        if not self._plotted.signals.is_chosen:  # by another page
            self._plotted.restore(settings)
        if settings.get("span_s") in SPANS_S:
            self._span_s = float(settings["span_s"])

    def update(self) -> None:
        self._plotted.sample()

    def build(self) -> None:
        with widgets.row():
            with popup(
                "Choose", "Choose what to plot", lambda is_open: self._choices.set_open(is_open)
            ) as window:
                self._choices, self._window = PlotChoices(self._plotted), window
            self._clear = widgets.button("Clear", self._plotted.clear, tip="Plot nothing")
        self._chart = Chart(
            "Plots",
            file=f"{topic_token(str(self.state.metadata['scene']))}_plots",
            span_s=self._span_s,
            on_show=self.state.show,
            on_span=partial(setattr, self, "_span_s"),
            on_csv=self._save_table,
        )
        self._empty = widgets.text("Choose the signals to plot.", "muted", tag="p")

    def refresh(self) -> None:
        shown, is_empty = self.state.shown, self._plotted.is_empty
        self._chart.show(self._plotted, shown=None if shown is None else shown.time)
        self._chart.set(hidden=is_empty)
        self._empty.set(hidden=not is_empty)
        self._clear.enable(not is_empty)
        self._choices.refresh()

    def find(self, kind: str, name: str) -> None:
        """Show the fields of a topic to choose from."""
        self._choices.find(name)
        self._window.element.run_method("showPopover")

    def _save_table(self) -> None:
        columns, name = self._plotted.columns(), f"{self._chart.file}.csv"

        async def save() -> None:
            text = await run.io_bound(table, columns)
            if text is None:  # the page is closing
                return
            with self._chart:
                ui.download.content(text, name, "text/csv")

        create(save())
