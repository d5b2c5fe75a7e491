"""How many prompts a text must stand in to be a template's and not somebody's own.

Belongs here: the numbers. Does not: what they are held against (gate).
"""

import math

FEWEST = 5
MANY = 20
MOST_OF = 0.8


def needed(prompts: int) -> int:
    """In how many of so many prompts a text must stand."""
    return max(FEWEST, min(MANY, math.ceil(MOST_OF * prompts)))
