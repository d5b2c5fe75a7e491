-- The newest canaries of any judge version.
SELECT asked_at, judge_model, prompt_version, healthy, asked, right_verdicts, failures
FROM rag_judge_canary
ORDER BY asked_at DESC
LIMIT %(limit)s
