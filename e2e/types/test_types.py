"""docs/types.md, and what ``farside types`` writes, before the real TypeScript compiler: one run of it for all."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from e2e.readme.blocks import ROOT
from farside.typegen import generate

PAGE = (ROOT / "docs/types.md").read_text()
(SERVER,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
WRITTEN, PAGE_TS = re.findall(r"^```ts\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)

CHANGES = {
    "argument": ('accuracy: Literal["high", "low"]', 'precision: Literal["high", "low"]'),
    "choice": ('Literal["high", "low"] = Field("low"', 'Literal["best", "low"] = Field("low"'),
    "result": ("latitude: float", "lat: float"),
    "name": ('name="get_location"', 'name="locate"'),
    "prose": ("How exact it must be.", "How exact?"),
}
"""What somebody changes in ``server.py``."""

OPTIONS = {
    "strict": True,
    "exactOptionalPropertyTypes": True,
    "noUncheckedIndexedAccess": True,
    "target": "es2022",
    "module": "esnext",
    "moduleResolution": "bundler",
    "allowImportingTsExtensions": True,
    "verbatimModuleSyntax": True,
    "isolatedModules": True,
    "noEmit": True,
    "skipLibCheck": True,
    "types": [],
    "paths": {"farside": [str(ROOT / "client-js/dist/index.d.ts")]},
}


def farside_types(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """The documented command, in a folder."""
    words = [sys.executable, "-m", "farside.cli", "types", "server:app", "-o", "tools.gen.ts", *options]
    return subprocess.run(words, cwd=folder, text=True, capture_output=True, check=False)


def project(folder: Path, server: str, page: str) -> None:
    """A page, and what is written for it."""
    module = ModuleType(f"types_of_{folder.name}")
    sys.modules[module.__name__] = module  # where pydantic looks for what annotations name
    exec(compile(server, folder.name, "exec"), vars(module))  # noqa: S102 - it is ours
    folder.mkdir()
    (folder / "page.ts").write_text(page)
    (folder / "tools.gen.ts").write_text(generate(module.app.tools, "farside types server:app"))
    del sys.modules[module.__name__]


@pytest.fixture(scope="module")
def complaints(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What ``tsc`` says of each folder, by its name."""
    root = tmp_path_factory.mktemp("types")
    project(root / "good", SERVER, PAGE_TS)
    for name, (old, new) in CHANGES.items():
        assert SERVER.count(old) == 1
        project(root / name, SERVER.replace(old, new), PAGE_TS)
    here = Path(__file__).parent
    project(root / "forms", (here / "forms.py").read_text(), (here / "forms.page.ts").read_text())
    (root / "tsconfig.json").write_text(json.dumps({"compilerOptions": OPTIONS, "include": ["*/*.ts"]}))
    ended = subprocess.run(
        [ROOT / "node_modules/.bin/tsc", "--pretty", "false"], cwd=root, text=True, capture_output=True, check=False
    )
    found: dict[str, list[str]] = {folder.name: [] for folder in root.iterdir() if folder.is_dir()}
    for complaint in re.split(r"\n(?! )", ended.stdout.strip()):
        place = re.match(r"(\w+)/([\w.]+)\(\d+,\d+\): (error TS\d+: .*)", complaint, re.DOTALL)
        assert place is not None, complaint
        found[place[1]].append(f"{place[2]}: {place[3]}")
    return found


def test_the_documented_page_has_no_type_errors(complaints: dict[str, list[str]]) -> None:
    assert complaints["good"] == []


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ("argument", "Property 'accuracy' does not exist"),
        ("choice", 'types \'"low" | "best"\' and \'"high"\' have no overlap'),
        ("result", "Property 'lat' is missing in type"),
        ("name", "Property 'get_location' does not exist"),
    ],
)
def test_a_change_in_python_fails_in_the_page(complaints: dict[str, list[str]], change: str, complaint: str) -> None:
    assert complaints[change] != []
    assert all(each.startswith("page.ts: ") for each in complaints[change])
    assert any(complaint in each for each in complaints[change]), complaints[change]


def test_prose_changes_nothing_for_the_page(complaints: dict[str, list[str]]) -> None:
    assert complaints["prose"] == []


def test_every_form_of_schema_is_taken_by_typescript_as_it_was_meant(complaints: dict[str, list[str]]) -> None:
    assert complaints["forms"] == []


def test_the_documented_commands_write_what_is_shown_and_notice_when_it_is_out_of_date(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    written = farside_types(tmp_path)
    assert (written.returncode, written.stderr) == (0, "")
    assert WRITTEN in (tmp_path / "tools.gen.ts").read_text()
    (tmp_path / "server.py").write_text(SERVER.replace(*CHANGES["result"]))
    checked = farside_types(tmp_path, "--check")
    assert checked.returncode == 1
    assert checked.stderr.startswith("tools.gen.ts is not what server:app declares; run `farside types server:app")
