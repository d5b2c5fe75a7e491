-- A temporary table has no statistics of its own accord.
ANALYZE stage_document
