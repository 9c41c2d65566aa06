"""Which page of the official clients it is that has connected anew."""

from __future__ import annotations

import pytest

from farside.core.absence import Absence, who_comes_back

EARLY, LATE, SILENT = Absence("early", 3), Absence("late", 8), Absence("silent", 0)


@pytest.mark.parametrize(
    ("absences", "first_command_id", "expected"),
    [
        ([], 4, None),
        ([EARLY], 4, EARLY),
        ([EARLY], 9, EARLY),
        ([EARLY], 3, None),
        ([EARLY], 1, None),
        ([SILENT], 1, None),
        ([SILENT, EARLY], 4, EARLY),
        ([EARLY, LATE], 9, LATE),
        ([LATE, EARLY], 9, LATE),
        ([LATE, EARLY], 8, EARLY),
    ],
)
def test_who_goes_on_counting_is_known(
    absences: list[Absence], first_command_id: int, expected: Absence | None
) -> None:
    assert who_comes_back(absences, first_command_id) == expected


@pytest.mark.parametrize(("first_command_id", "lost"), [(4, False), (5, True), (9, True)])
def test_ids_that_are_missing_were_lost(first_command_id: int, lost: bool) -> None:
    assert EARLY.may_have_lost(first_command_id) == lost
