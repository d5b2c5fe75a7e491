-- A turn that the source deleted is deleted here. What the source merely purged by age (nothing older is left there)
-- keeps its scores and loses its text, in erase_purged_text.sql. An empty source says nothing at all.
WITH due AS (
  UPDATE rag_call AS r SET erased_at = now()
  WHERE r.verdict = 'synthesis' AND r.erased_at IS NULL
    AND r.ts > (SELECT min(ts) FROM kb_source.ai_call)
    AND NOT EXISTS (SELECT 1 FROM kb_source.ai_call AS c WHERE c.event_id = r.event_id)
  RETURNING r.event_id, r.ts
), metric AS (
  DELETE FROM rag_metric USING due WHERE rag_metric.event_id = due.event_id
), score AS (
  DELETE FROM rag_judge_score USING due WHERE rag_judge_score.event_id = due.event_id
), triad AS (
  DELETE FROM rag_triad USING due WHERE rag_triad.event_id = due.event_id
), quality AS (
  DELETE FROM rag_quality USING due WHERE rag_quality.event_id = due.event_id AND rag_quality.ts = due.ts
), stale AS (
  INSERT INTO rag_stale_hour (hour, stage)
  SELECT DISTINCT date_trunc('hour', ts, 'UTC'), 'aggregate' FROM due
  ON CONFLICT (hour, stage) DO UPDATE SET touched_at = now()
)
SELECT count(*) FROM due
