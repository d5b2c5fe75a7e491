-- How many gaps with one subject are worth somebody's work.
SELECT count(*) FROM kb_gap_task
