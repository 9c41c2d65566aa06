"""Where an app is: ``module:app``."""

from __future__ import annotations

import importlib

from farside.app import Farside


def app_at(place: str) -> Farside:
    """The Farside app of ``module:app``.

    Raises:
        ValueError: there is something else, or nothing; says what to do.
    """
    module, _, name = place.partition(":")
    app = getattr(importlib.import_module(module), name, None)
    if not isinstance(app, Farside):
        raise ValueError(f"expected {place} to be a Farside app, got {app!r}; name the variable that holds it")
    return app
