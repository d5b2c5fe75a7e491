-- Nothing waits for the judging model any more.
WITH outage AS (
  DELETE FROM rag_judge_outage WHERE judge_model = %(judge_model)s
)
UPDATE rag_judge_score SET retry_at = NULL WHERE judge_model = %(judge_model)s AND status = 'error' AND retry_at IS NOT NULL
