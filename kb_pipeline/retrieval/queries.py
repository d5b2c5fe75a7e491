"""When two queries are one: the normalised form, and its hash, which is the key of a query everywhere.

Belongs here: that equality. Does not: near-duplicates, what a query means.
"""

import unicodedata
from hashlib import sha256


def normalised(query: str) -> str:
    """NFKC, casefolded, white space as single spaces, without punctuation at either end; "" for none but that."""
    folded = " ".join(unicodedata.normalize("NFKC", query).casefold().split())
    first, last = 0, len(folded)
    while first < last and not folded[first].isalnum():
        first += 1
    while last > first and not folded[last - 1].isalnum():
        last -= 1
    return folded[first:last]


def query_sha(query: str) -> str:
    """The SHA-256 (hex) of the normalised query; of the query as it is where nothing of it is left."""
    return sha256((normalised(query) or query).encode("utf-8", "surrogatepass")).hexdigest()
