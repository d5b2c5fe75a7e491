-- A claim that never led to a call leaves no trace of it; one that had calls before stands as what it was.
WITH released AS (
  DELETE FROM rag_judge_score
  WHERE event_id = ANY (%(event_ids)s) AND judge_model = %(judge_model)s AND prompt_version = %(prompt_version)s
    AND status = 'claimed' AND claim_lock = %(claim_lock)s AND calls = 0
)
UPDATE rag_judge_score SET
  status = CASE WHEN error_class IS NULL THEN 'outdated' ELSE 'error' END, lease_until = NULL,
  judged_at = coalesce(judged_at, now())
WHERE event_id = ANY (%(event_ids)s) AND judge_model = %(judge_model)s AND prompt_version = %(prompt_version)s
  AND status = 'claimed' AND claim_lock = %(claim_lock)s AND calls > 0
