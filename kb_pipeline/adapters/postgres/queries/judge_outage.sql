-- The outage of a judging model that lasts.
SELECT since, runs, retry_at FROM rag_judge_outage WHERE judge_model = %(judge_model)s
