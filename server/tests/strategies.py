"""Hypothesis strategies for the data model."""

from hypothesis import strategies as st

from farside.wire.values import MAX_NUMBER

NUMBERS = st.integers(-MAX_NUMBER, MAX_NUMBER) | st.floats(
    -MAX_NUMBER, MAX_NUMBER, allow_nan=False, allow_infinity=False
)

STRINGS = st.text(st.characters(codec="utf-8"))

KEYS = st.sampled_from(["$bytes", "$$bytes", "", "constructor", "toString"]) | STRINGS.filter(
    lambda key: key != "__proto__"
)

LEAVES = st.none() | st.booleans() | NUMBERS | STRINGS | st.binary()

VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner), max_leaves=30)
"""Any value that may travel."""

JSON_OBJECTS = st.dictionaries(KEYS, VALUES, max_size=3)
