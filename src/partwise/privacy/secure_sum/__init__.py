"""The secure sum: the server learns the sum of what parties say, and who took part; nothing else.

Steps of a protocol, arrays in and arrays out; messages are someone else's. After Bonawitz et al. (2017), with masks derived anew
for each round from keys that are agreed on once, and graphs of Bell et al. (2020) for many parties. What is promised and what is
not: docs/secure_sum.md.
"""

from partwise.privacy.secure_sum.graph import Ring
from partwise.privacy.secure_sum.packing import Packing
from partwise.privacy.secure_sum.party import Keys, Opened, give_seeds, give_shares, join, masked, new_keys
from partwise.privacy.secure_sum.server import Uploads, differing, unmasked

__all__ = [
    "Keys",
    "Opened",
    "Packing",
    "Ring",
    "Uploads",
    "differing",
    "give_seeds",
    "give_shares",
    "join",
    "masked",
    "new_keys",
    "unmasked",
]
