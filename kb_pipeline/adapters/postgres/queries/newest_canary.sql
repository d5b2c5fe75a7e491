-- The newest asking of one judge version.
SELECT asked_at, healthy, asked, right_verdicts, failures
FROM rag_judge_canary
WHERE judge_model = %(judge_model)s AND prompt_version = %(prompt_version)s
ORDER BY asked_at DESC, canary_id DESC
LIMIT 1
