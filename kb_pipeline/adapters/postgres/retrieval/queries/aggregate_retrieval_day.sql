-- The UTC day that holds the hour, as the sum of its hours.
SELECT kb_add_up_retrieval_day(%(window_start)s)
