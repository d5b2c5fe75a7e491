-- Whatever else is known of the marked turns.
WITH marked AS (
  SELECT event_id, ts FROM rag_call
  WHERE ts >= %(window_start)s AND ts < %(window_end)s AND erased_at IS NOT NULL
), metric AS (
  DELETE FROM rag_metric USING marked WHERE rag_metric.event_id = marked.event_id
), score AS (
  DELETE FROM rag_judge_score USING marked WHERE rag_judge_score.event_id = marked.event_id
)
DELETE FROM rag_quality USING marked WHERE rag_quality.event_id = marked.event_id AND rag_quality.ts = marked.ts
