-- Turns past quality_days leave; the ledger keeps its tombstones, or an erased turn would be graded again.
WITH due AS (
  UPDATE rag_call SET erased_at = now()
  WHERE ts < %(before)s AND verdict = 'synthesis' AND erased_at IS NULL
  RETURNING event_id
), metric AS (
  DELETE FROM rag_metric USING due WHERE rag_metric.event_id = due.event_id
), score AS (
  DELETE FROM rag_judge_score USING due WHERE rag_judge_score.event_id = due.event_id
), triad AS (
  DELETE FROM rag_triad USING due WHERE rag_triad.event_id = due.event_id
)
DELETE FROM rag_quality USING due WHERE rag_quality.event_id = due.event_id AND rag_quality.ts < %(before)s
