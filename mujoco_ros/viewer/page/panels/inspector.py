"""The panel "Inspector": sensors, fields of MjData, counts of the solver, sizes of the model."""

from collections.abc import Hashable, Mapping
from functools import partial
from typing import Any

import mujoco
from nicegui.element import Element

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.viewer.data_fields import field_names, sensors, value_of, written
from mujoco_ros.viewer.page import widgets
from mujoco_ros.viewer.page.details import Details
from mujoco_ros.viewer.page.formats import format_decimals
from mujoco_ros.viewer.page.live import LiveElement
from mujoco_ros.viewer.page.panel import Area, Panel
from mujoco_ros.viewer.page.session import Session
from mujoco_ros.viewer.page.tables import sorted_table

PROFILER = "profiler"
"""What `InspectorPanel.find` opens."""
_MOST = 30  # watched fields
_ADD = "field"
_CPU, _RESIDUAL, _INVERSE = "Time of a step", "Residual", "Inverse error"
_SOLVER = (_CPU, "Contacts", "Constraints", "Iterations", _RESIDUAL, "Islands", "Energy", _INVERSE)
_SIZES = ("nq", "nv", "nu", "na", "nbody", "njnt", "ngeom", "nsite", "nmesh", "ntex", "nsensor")


class InspectorPanel(Panel):
    """The numbers behind the scene, as the viewer computes them from the simulated state."""

    title = "Inspector"
    area = Area.RIGHT
    is_open = False

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._watched: list[str] = []
        self._problem = ""
        self._values: dict[str, LiveElement] = {}

    def settings(self) -> dict[str, Any]:
        return {"watched": list(self._watched)}

    def restore(self, settings: Mapping[str, Any]) -> None:
        kept = settings.get("watched")
        if isinstance(kept, list):
            self._watched = [each for each in kept if isinstance(each, str)][:_MOST]

    def structure(self) -> Hashable:
        model: Hashable = self.state.model
        return model

    def build(self) -> None:
        with widgets.section("Watch"):
            self._build_watch()
        with widgets.section("Solver"):
            self._solver = self._lines(*_SOLVER)
        with widgets.section("Model"):
            self._build_model()
        self._sensors_node = Details("Sensors", self._build_sensors)
        self._profiler_node = Details("Profiler", self._build_profiler)

    def refresh(self) -> None:
        data = self.state.data
        for expression, element in self._values.items():
            try:
                element.set(text=written(value_of(data, expression)), tone="")
            except UserInputError as error:  # of another model
                element.set(text=str(error), tone="bad")
        self._note.set(text=self._problem, hidden=not self._problem)
        islands = int(data.nisland)
        counts = data.solver_niter[: max(islands, 1)].tolist()
        residuals = [
            data.solver[island * mujoco.mjNSOLVER + min(count, mujoco.mjNSOLVER) - 1].gradient
            for island, count in enumerate(counts)
            if count
        ]
        step = self.clients.diagnostics.profile.get("step", 0.0)
        potential, kinetic = (written(energy) for energy in data.energy)
        shown = {
            "Contacts": str(data.ncon),
            "Constraints": str(data.nefc),
            "Iterations": str(sum(counts)),
            _RESIDUAL: f"{max(residuals):.2g}" if residuals else "none",
            "Islands": str(islands),
            "Energy": f"{potential} J potential, {kinetic} J kinetic",
        }
        shown[_CPU] = f"{1e6 * step:.1f} µs in the simulator" if step else "not measured"
        shown[_INVERSE] = self._inverse_error()
        has_energy = bool(self.state.model.opt.enableflags & mujoco.mjtEnableBit.mjENBL_ENERGY)
        if not has_energy:
            shown["Energy"] = "not computed: the flag energy is off"
        for name, words in shown.items():
            self._solver[name].set(text=words)
        if self._sensors_node.is_open:
            self._sensors.show(
                [
                    ["", name, kind, written(values), share]
                    for name, kind, values, share in sensors(self.state.model, data)
                ]
            )
        if self._profiler_node.is_open:
            self._show_profile()

    def _inverse_error(self) -> str:
        """Return how forward and inverse dynamics differ, if the flag asks for it."""
        model, data = self.state.model, self.state.data
        if not model.opt.enableflags & mujoco.mjtEnableBit.mjENBL_FWDINV:
            return "not computed: the flag fwdinv is off"
        mujoco.mj_compareFwdInv(model, data)
        constraints, applied = data.solver_fwdinv
        return f"{constraints:.2g} of constraint forces, {applied:.2g} of applied forces"

    def _lines(self, *names: str) -> dict[str, LiveElement]:
        created = {}
        for name in names:
            with widgets.line(name):
                created[name] = widgets.figure()
        return created

    def _build_watch(self) -> None:
        with widgets.row():
            names = [_ADD, *field_names(self.state.data)]
            self._names = widgets.choice(
                "Fields of MjData", names, _ADD, self._take_name, watch=True
            )
            widgets.text_field(
                "Field to watch", self._add, placeholder="qpos, xpos[3], ctrl[0]", watch=True
            )
        self._note = widgets.text(tone="bad")
        self._list = Element("div").classes("watched")
        self._show_watched()

    def _build_model(self) -> None:
        model, option = self.state.model, self.state.model.opt
        solver = mujoco.mjtSolver(option.solver).name.removeprefix("mjSOL_").lower()
        integrator = mujoco.mjtIntegrator(option.integrator).name.removeprefix("mjINT_").lower()
        shown = {
            "Step": f"{1e3 * option.timestep:g} ms, {integrator}",
            "Solver": f"{solver}, at most {option.iterations} iterations",
            "Sizes": ", ".join(f"{name} {getattr(model, name)}" for name in _SIZES),
            "Mass": f"{format_decimals(float(model.body_mass.sum()), 2)} kg",
            "MuJoCo": mujoco.mj_versionString(),
        }
        for name, words in shown.items():
            with widgets.line(name):
                widgets.text(words)

    def _build_sensors(self) -> None:
        columns = [("Sensor", "", False), ("Kind", "", False), ("Values", "", True)]
        columns.append(("Cutoff", "%", True))
        self._sensors = sorted_table("Sensors", columns, by=0, down=False)

    def _build_profiler(self) -> None:
        widgets.text("Mean time of a step in the simulator, as in the last second.", "muted")
        self._profile = sorted_table(
            "Profiler", [("Stage", "", False), ("Time", "µs", True), ("Share", "%", True)], by=1
        )

    def _show_profile(self) -> None:
        """Show the times of the stages, which contain each other."""
        times = self.clients.diagnostics.profile
        whole = times.get("step", 0.0)
        self._profile.show(
            [
                ["", name, f"{1e6 * time:.1f}", f"{100.0 * time / whole:.0f}" if whole else ""]
                for name, time in times.items()
            ]
        )

    def find(self, kind: str, name: str) -> None:
        """Open the profiler."""
        if kind == PROFILER:
            self.tick(is_visible=True)
            self._profiler_node.show()

    def _show_watched(self) -> None:
        self._list.clear()
        self._values = {}
        with self._list:
            for expression in self._watched:
                with widgets.row():
                    widgets.text(expression, strong=True)
                    self._values[expression] = widgets.figure().classes("long")
                    widgets.button(
                        "×",
                        partial(self._remove, expression),
                        name=f"Stop watching {expression}",
                        look="plain",
                        watch=True,
                    )

    def _take_name(self, name: str) -> None:
        self._names.set(value=_ADD)
        if name != _ADD:
            self._add(name)

    def _add(self, expression: str) -> None:
        expression, self._problem = str(expression).strip(), ""
        if not expression or expression in self._watched:
            return
        if len(self._watched) >= _MOST:
            self._problem = f"at most {_MOST} fields are watched"
            return
        try:
            value_of(self.state.data, expression)
        except UserInputError as error:
            self._problem = str(error)
            return
        self._watched.append(expression)
        self._show_watched()

    def _remove(self, expression: str) -> None:
        self._watched.remove(expression)
        self._show_watched()
