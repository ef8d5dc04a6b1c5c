"""Who a number is, in sentences."""

import pytest

from partwise.errors import MissingExtraError, OptionError, RunError
from partwise.estimators.naming import by_name, named

NAMES = ["north", "south", "party-2", "east"]


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("Party 1 did not answer in round 2.", "Party south did not answer in round 2."),
        ("Without party 3's key; of party 0.", "Without party east's key; of party north."),
        ("Parties 0 and 3 hold no key.", "Parties north and east hold no key."),
        ("Of parties 0, 1, 2 and 5 more.", "Of parties north, south, party-2 and 5 more."),
        ("Party 2 vanished, party 12 too.", "party-2 vanished, party 12 too."),
        (
            "A sum of 3 parties at least; round 1 needs 2 parties.",
            "A sum of 3 parties at least; round 1 needs 2 parties.",
        ),
        ("Of 4 parties, 2 may vanish.", "Of 4 parties, 2 may vanish."),
    ],
)
def test_numbers_become_names_and_nothing_else_does(sentence, told):
    assert named(sentence, NAMES) == told
    assert named(sentence, None) == sentence


@pytest.mark.parametrize("kind", [RunError, OptionError])
def test_errors_stay_what_they_are(kind):
    with pytest.raises(kind, match="party east is late"), by_name(NAMES):
        raise kind("party 3 is late")
    with pytest.raises(MissingExtraError, match=r"partwise\[secure\]"), by_name(NAMES):
        raise MissingExtraError("Party 0's sum", "cryptography", "secure")
