-- The rows of one day, before those that replace them.
DELETE FROM rag_judge_calibration WHERE day = %(day)s
