"""The command line's words; that it serves is shown by every end-to-end test."""

from __future__ import annotations

import pytest

from farside import cli


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "required"),
        (["serve"], "module:app"),
        (["serve", "module"], "expected module:app, got 'module'"),
        (["serve", "m:app", "--workers", "4"], "expected --workers 1, got 4"),
        (["serve", "m:app", "--port", "x"], "invalid int value"),
    ],
)
def test_bad_words_are_explained(arguments, complaint, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    assert ended.value.code == 2
    assert complaint in capsys.readouterr().err


def test_serving_uses_our_settings(monkeypatch):
    asked = {}
    monkeypatch.setattr(cli.uvicorn, "run", lambda app, **options: asked.update(app=app, **options))

    assert cli.main(["serve", "m:app", "--host", "0.0.0.0", "--port", "1"]) == 0  # noqa: S104
    assert (asked["app"], asked["host"], asked["port"]) == ("m:app", "0.0.0.0", 1)  # noqa: S104
    assert (asked["ws"], asked["ws_per_message_deflate"], asked["loop"]) == ("websockets-sansio", False, "uvloop")
