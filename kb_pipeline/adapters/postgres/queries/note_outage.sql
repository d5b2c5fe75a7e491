-- Compare and set: of runs that find the judge down at the same time the first is noted, and lengthens the wait.
INSERT INTO rag_judge_outage AS o (judge_model, since, runs, retry_at)
VALUES (%(judge_model)s, %(now)s, %(runs)s, %(retry_at)s)
ON CONFLICT (judge_model) DO UPDATE SET runs = excluded.runs, retry_at = excluded.retry_at
WHERE o.retry_at <= %(now)s
