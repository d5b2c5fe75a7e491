"""The rules, one module each: what the statistics of a window say, as a reading."""
