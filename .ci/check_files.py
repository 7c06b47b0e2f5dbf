"""Check package manifests, XML, URDF, YAML and launch files."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import yaml
from catkin_pkg.package import InvalidPackage, parse_package_string
from lxml import etree

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = "http://download.ros.org/schema/package_format3.xsd"
# REP-149: the order of required tags
REQUIRED = ["name", "version", "description", "maintainer", "license"]


def check_xml(path: Path) -> Iterator[str]:
    """Yield XML syntax errors."""
    try:
        etree.parse(path)
    except etree.XMLSyntaxError as error:
        yield str(error)


def check_manifest(path: Path) -> Iterator[str]:
    """Yield violations of REP-149, package format 3."""
    try:
        tree = etree.parse(path)
    except etree.XMLSyntaxError:
        return
    root = tree.getroot()
    if root.get("format") != "3":
        yield "format is not 3"
    models = tree.xpath("/processing-instruction('xml-model')")
    if not any(SCHEMA in model.text for model in models):
        yield f"does not name its schema {SCHEMA}"
    tags = [child.tag for child in root if child.tag in REQUIRED]
    if tags != sorted(tags, key=REQUIRED.index):
        yield f"the order is {', '.join(tags)}; it should be {', '.join(REQUIRED)}"
    if root.find("export/build_type") is None:
        yield "export names no build_type"
    warnings: list[str] = []
    try:
        package = parse_package_string(path.read_text(), str(path), warnings=warnings)
        package.validate(warnings=warnings)
    except InvalidPackage as error:
        yield str(error)
    yield from warnings


def check_yaml(path: Path) -> Iterator[str]:
    """Yield YAML syntax errors."""
    try:
        list(yaml.safe_load_all(path.read_text()))
    except yaml.YAMLError as error:
        yield str(error)


def check_launch(path: Path) -> Iterator[str]:
    """Yield syntax errors, and a missing launch description."""
    try:
        compile(path.read_text(), str(path), "exec")
    except SyntaxError as error:
        yield str(error)
    if "def generate_launch_description(" not in path.read_text():
        yield "has no generate_launch_description"


CHECKS: list[tuple[str, Callable[[Path], Iterator[str]]]] = [
    ("**/*.xml", check_xml),
    ("**/*.urdf", check_xml),
    ("**/package.xml", check_manifest),
    ("**/*.yaml", check_yaml),
    ("**/*.rviz", check_yaml),
    ("launch/*.launch.py", check_launch),
]
EXCEPT = ("build", "install", "log", "test")  # tests have invalid files on purpose


def main() -> int:
    """Check all files of the tree, and print the problems."""
    checked = problems = 0
    for pattern, check in CHECKS:
        for path in sorted(ROOT.glob(pattern)):
            inside = path.relative_to(ROOT)
            hidden = any(part.startswith(".") for part in inside.parts)
            if hidden or inside.parts[0] in EXCEPT:
                continue
            checked += 1
            for problem in check(path):
                problems += 1
                print(f"{inside}: {problem}")
    print(f"{checked} file checks, {problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
