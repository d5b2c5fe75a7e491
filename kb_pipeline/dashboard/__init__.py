"""What a dashboard says and draws: periods, sums, verdicts in words, the geometry of charts; pure.

Belongs here: arithmetic and words on numbers that somebody read. Does not: SQL, HTTP, templates, a clock.
"""
