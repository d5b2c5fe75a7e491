-- The newest agreement of a judge version with the experts' decisions, all languages together.
SELECT day, label_kind, n, positives, threshold, statistics
FROM rag_judge_calibration
WHERE judge_model = %(judge_model)s AND prompt_version = %(prompt_version)s AND language = 'all'
  AND day = (SELECT max(day) FROM rag_judge_calibration
             WHERE judge_model = %(judge_model)s AND prompt_version = %(prompt_version)s)
ORDER BY label_kind
