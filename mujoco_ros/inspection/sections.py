"""A report as titled sections of lines and tables, for text and HTML."""

import math
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

from mujoco_ros.inspection.joints import JointEntry
from mujoco_ros.inspection.report import Report, RobotReport
from mujoco_ros.model.errors import counted

_MILLI = 1e3
_NONE = "-"
_CONTACTS = {True: "excluded", False: "collide"}
_NEGLIGIBLE = 1e-9  # numbers that are rounding errors of zero


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """A part of the page: a title, lines, and a table with its header."""

    title: str
    lines: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


def _table_section(
    title: str,
    header: tuple[str, ...],
    rows: Iterable[tuple[str, ...]],
    lines: tuple[str, ...] = (),
) -> Section:
    """Return a section with a table; without rows it has no header, and a line."""
    found = tuple(rows)
    if found:
        return Section(title=title, lines=lines, header=header, rows=found)
    return Section(title=title, lines=lines or ("none",))


def sections(report: Report) -> Iterator[Section]:
    """Yield the sections of a report."""
    yield _summary(report)
    yield Section(title="Messages of the import", lines=report.messages or ("none",))
    yield _overlaps(report)
    for robot in report.robots:
        where = f"{robot.name}: " if len(report.robots) > 1 else ""
        yield _joints(robot, report.seconds, where)
        if robot.wheels.wheels:
            yield _wheels(robot, where)
        yield _actuators(robot, where)
        yield _sensors(robot, where)
        yield _masses(robot, where)
        if robot.ignored:
            rows = ((f"<{tag}>", str(count)) for tag, count in robot.ignored.items())
            yield _table_section(
                f"{where}Ignored elements of the file", ("element", "number"), rows
            )


def _summary(report: Report) -> Section:
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    lines = [
        f"loaded as scene '{report.name}', with a step of {_MILLI * report.timestep:g} ms and the "
        f"integrator {report.integrator}; {versions}",
    ]
    for robot in report.robots:
        lines.append(f"robot '{robot.name}': {robot.file}")
        weight = f"{robot.mass:.4g} kg"
        if robot.file_mass is not None:
            weight += f" ({robot.file_mass:.4g} kg in the file)"
        topics = sum(bool(sensor.topic) for sensor in robot.sensors)
        lines.append(
            f"  {robot.base} base, {counted(robot.bodies, 'body')}, "
            f"{counted(len(robot.joints), 'joint')}, {weight}; "
            f"{topics} of {len(robot.sensors)} sensors and cameras have topics; "
            f"{counted(len(robot.actuators), 'control input')}"
        )
    lines.append(f"after {report.seconds:g} s without commands: {_standstill(report)}")
    lines.append(str(report.solver))
    lines += [f"engine: {warning}" for warning in report.engine_warnings]
    return Section(title=f"check_robot {report.reference}", lines=tuple(lines))


def _standstill(report: Report) -> str:
    joints = [joint for robot in report.robots for joint in robot.joints if joint.drive]
    parts = []
    for kind, unit in (("hinge", "mrad"), ("slide", "mm")):
        of_kind = [joint for joint in joints if joint.kind == kind]
        if of_kind:
            farthest = max(of_kind, key=lambda joint: joint.drift)
            fastest = max(joint.speed for joint in of_kind)
            parts.append(
                f"{farthest.name} moved farthest, by {_MILLI * farthest.drift:.3g} {unit}, and the "
                f"largest speed at the end is {_MILLI * fastest:.2g} {unit}/s"
            )
    if report.base_drift is not None and report.base_speed is not None:
        parts.append(
            f"the base moved by {_MILLI * report.base_drift:.3g} mm, with "
            f"{_MILLI * report.base_speed:.2g} mm/s at the end"
        )
    if report.divergences:
        parts.append(f"THE SIMULATION DIVERGED, {counted(report.divergences, 'time')}")
    return "; ".join(parts) or "no driven joint"


def _overlaps(report: Report) -> Section:
    header = "body", "body", "depth [mm]", "contacts"
    rows = (
        (pair.first, pair.second, f"{_MILLI * pair.depth:.2f}", _CONTACTS[pair.excluded])
        for pair in report.overlaps
    )
    return _table_section("Bodies that overlap at the start", header, rows)


def _joints(robot: RobotReport, seconds: float, where: str) -> Section:
    if not robot.joints:
        return Section(title=f"{where}Joints", lines=("none",))
    weak = [joint.name for joint in robot.joints if joint.is_weak]
    pd = [joint for joint in robot.joints if joint.drive == "pd"]
    lines = [
        "units: rad, Nm, Nm/rad, Nms/rad, kg m² (slides: m, N, N/m, Ns/m, kg); sag and drift in "
        f"mrad (mm): expected from the weight, and simulated in {seconds:g} s; J is the inertia at "
        "the start with the other joints locked"
    ]
    if pd:
        origin = "from the gains file" if robot.has_gains_file else "derived from the inertia"
        lines.append(f"PD gains of {counted(len(pd), 'torque motor')} are {origin}")
    if weak:
        lines.append(f"TOO WEAK for the weight at the start: {', '.join(weak)}")
    header = (
        *("joint", "type", "range", "effort", "drive", "kp", "kd", "armature", "J"),
        *("Hz", "damping", "sag", "drift"),
    )
    return _table_section(f"{where}Joints", header, map(_joint_row, robot.joints), tuple(lines))


def _joint_row(joint: JointEntry) -> tuple[str, ...]:
    return (
        joint.name,
        joint.kind,
        _range(joint.limits),
        _number(joint.effort_limit) + (" WEAK" if joint.is_weak else ""),
        joint.drive or "passive",
        *map(_number, (joint.kp, joint.kd, joint.armature, joint.inertia)),
        *map(_number, (joint.bandwidth, joint.damping_ratio)),
        _number(None if joint.sag is None else _MILLI * joint.sag),
        _number(_MILLI * joint.drift),
    )


def _wheels(robot: RobotReport, where: str) -> Section:
    found = robot.wheels
    lines = [f"drive: {robot.drive}"]
    dragging = [
        f"{support.link} ({_MILLI * support.depth:.3g} mm below the wheels)"
        for support in found.supports
        if not support.is_castor
    ]
    if dragging:
        lines.append(f"DRAGS ON THE GROUND, so that wheels may turn in vain: {', '.join(dragging)}")
    header = ("wheel", "radius [m]", "x [m]", "y [m]", "driven", "carried by")
    rows = [
        (
            wheel.joint,
            *map(_number, (wheel.radius, *wheel.position[:2])),
            "yes" if wheel.is_driven else "no",
            ", ".join(filter(None, (wheel.steering, wheel.castor, *wheel.springs))) or _NONE,
        )
        for wheel in found.wheels
    ]
    castors = {support.link for support in found.supports if support.is_castor}
    rows += [(link, *(_NONE,) * 3, "slides", _NONE) for link in sorted(castors)]
    return _table_section(f"{where}Wheels", header, rows, tuple(lines))


def _actuators(robot: RobotReport, where: str) -> Section:
    lines = []
    for command in robot.commands:
        all_of_them = len(command.joints) == len(robot.joints) and len(command.joints) > 1
        listing = "all joints" if all_of_them else ", ".join(command.joints)
        lines.append(f"{command.name} ({command.message}): {listing}")
    header = "actuator or joint", "acts on", "range", "command", "unit"
    rows = (
        (each.name, each.target, _range(each.limits), each.command, each.unit)
        for each in robot.actuators
    )
    text = tuple(lines) or ("none: the robot takes no commands",)
    return _table_section(f"{where}Actuators and their commands", header, rows, text)


def _sensors(robot: RobotReport, where: str) -> Section:
    header = "sensor", "kind", "topic", "message"
    rows = ((each.name, each.kind, each.topic or "NONE", each.message) for each in robot.sensors)
    return _table_section(f"{where}Sensors, cameras and lidars", header, rows)


def _masses(robot: RobotReport, where: str) -> Section:
    header = "link", "model [kg]", "file [kg]", "remark"
    rows = (
        (link.name, _number(link.model), _number(link.file), link.remark) for link in robot.links
    )
    return _table_section(f"{where}Masses", header, rows)


def _range(limits: Sequence[float] | None) -> str:
    return _NONE if limits is None else f"{_number(limits[0])} … {_number(limits[1])}"


def _number(value: float | None) -> str:
    if value is None:
        return _NONE
    if math.isinf(value):
        return "∞"
    return "0" if abs(value) < _NEGLIGIBLE else f"{value:.3g}"


def text_page(parts: Iterable[Section]) -> str:
    """Return sections as text, with their tables in columns."""
    return "\n".join(line for part in parts for line in (*_lines(part), "")).rstrip() + "\n"


def _lines(part: Section) -> Iterator[str]:
    yield part.title
    yield "-" * len(part.title)
    yield from part.lines
    if part.rows:
        table = (part.header, *part.rows)
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        for row in table:
            cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            yield "  ".join(cells).rstrip()


_STYLE = """
body { font: 14px/1.4 system-ui, sans-serif; margin: 2em auto; max-width: 80em; padding: 0 1em }
h1 { font-size: 1.4em } h2 { font-size: 1.1em; margin: 1.6em 0 0.4em }
table { border-collapse: collapse } td, th { padding: 0.1em 0.8em 0.1em 0; text-align: left }
th { border-bottom: 1px solid #888 } tr:nth-child(even) td { background: #f4f4f4 }
figure { display: inline-block; margin: 0 1em 1em 0 } img { max-width: 100%; width: 26em }
p { margin: 0.2em 0; white-space: pre-wrap } .scroll { overflow-x: auto }
"""


def html_page(parts: Sequence[Section], images: Iterable[tuple[str, bytes]], note: str) -> str:
    """Return sections as HTML, the first one with its images: caption and PNG, or a `note`."""
    first, *others = parts
    body = [f"<h1>{escape(first.title)}</h1>", *_paragraphs(first)]
    for caption, png in images:
        data = b64encode(png).decode()
        image = f'<img alt="{escape(caption)}" src="data:image/png;base64,{data}">'
        body.append(f"<figure>{image}<figcaption>{escape(caption)}</figcaption></figure>")
    if note:
        body.append(f"<p>{escape(note)}</p>")
    for part in others:
        body += [f"<h2>{escape(part.title)}</h2>", *_paragraphs(part), *_table(part)]
    head = f'<meta charset="utf-8"><title>{escape(first.title)}</title><style>{_STYLE}</style>'
    content = "\n".join(body)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head><body>\n{content}\n</body></html>\n'
    )


def _paragraphs(part: Section) -> Iterator[str]:
    for line in part.lines:
        yield f"<p>{escape(line)}</p>"


def _table(part: Section) -> Iterator[str]:
    if not part.rows:
        return
    yield '<div class="scroll"><table><tr>'
    yield "".join(f"<th>{escape(cell)}</th>" for cell in part.header)
    for row in part.rows:
        yield "</tr><tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row)
    yield "</tr></table></div>"
