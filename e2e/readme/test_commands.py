"""What the README tells its readers to type exists."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.readme.blocks import README, ROOT, block

TARGETS = sorted(set(re.findall(r"\bmake ([a-z][a-z0-9-]*)", README)))
LINKS = sorted(set(re.findall(r"\]\(([^)#:]+)\)", README)))


def test_there_are_commands() -> None:
    assert {"demo", "test"} <= set(TARGETS)
    assert all(line.startswith("make ") for line in block("sh").splitlines())


@pytest.mark.parametrize("target", TARGETS)
def test_make_has_the_target(target: str) -> None:
    listed = subprocess.run(["make", "help"], cwd=ROOT, text=True, capture_output=True, check=True).stdout
    assert target in re.findall(r"^make ([a-z0-9-]+)", listed, re.MULTILINE)


@pytest.mark.parametrize("variable", sorted(set(re.findall(r"\b(PORT|FARSIDE_[A-Z]+)\b", README))))
def test_the_variable_is_read(variable: str) -> None:
    readers = [ROOT / "Makefile", *(ROOT / "examples/assistant").glob("*.py")]
    assert any(re.search(rf"\b{variable}\b", path.read_text()) for path in readers)


@pytest.mark.parametrize("command", ["dev", "serve"])
def test_farside_takes_what_is_written(command: str) -> None:
    (written,) = re.findall(rf"`farside ({command} [^`]+)`", README)
    farside = Path(sys.executable).with_name("farside")
    options = [word for word in written.split() if word.startswith("--")]
    usage = subprocess.run([farside, command, "--help"], text=True, capture_output=True, check=True).stdout
    assert options == [option for option in options if option in usage]


@pytest.mark.parametrize("link", LINKS)
def test_the_link_leads_somewhere(link: str) -> None:
    assert (ROOT / link).exists()
