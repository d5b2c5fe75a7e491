-- Ledger row, triad and metrics of a chunk together or not at all; a call already in the ledger stays as it is,
-- unless its body was missing then.
WITH saved AS (
  INSERT INTO rag_call AS r (
    event_id, ts, trace_id, surface, tenant, operation, engine, model, http_status, verdict, parse_status, evidence_intact)
  SELECT DISTINCT ON (event_id)
    event_id, ts, trace_id, surface, tenant, operation, engine, model, http_status, verdict, parse_status, evidence_intact
  FROM stage_examination
  ORDER BY event_id
  ON CONFLICT (event_id) DO UPDATE SET
    verdict = excluded.verdict, parse_status = excluded.parse_status, evidence_intact = excluded.evidence_intact,
    examined_at = now()
  WHERE r.parse_status = 'missing_body' AND excluded.parse_status IS DISTINCT FROM 'missing_body'
  RETURNING event_id, ts
), turn AS (
  SELECT DISTINCT ON (s.event_id) s.*
  FROM stage_examination AS s
  JOIN saved USING (event_id)
  WHERE s.verdict = 'synthesis'
  ORDER BY s.event_id
), triad AS (
  INSERT INTO rag_triad AS t (
    event_id, ts, parse_status, question, context, passages, history, answer, finish_reason, question_sha, question_preview)
  SELECT
    event_id, ts, parse_status, question, context, passages, history, answer, finish_reason, question_sha, question_preview
  FROM turn
  ON CONFLICT (event_id) DO UPDATE SET
    parse_status = excluded.parse_status, question = excluded.question, context = excluded.context,
    passages = excluded.passages, history = excluded.history, answer = excluded.answer,
    finish_reason = excluded.finish_reason, question_sha = excluded.question_sha,
    question_preview = excluded.question_preview
  WHERE t.text_expired_at IS NULL
), metric AS (
  INSERT INTO rag_metric (
    event_id, ts, had_context, num_passages, top_score, mean_score, context_chars, answer_chars, refused, answer_truncated)
  SELECT
    event_id, ts, had_context, num_passages, top_score, mean_score, context_chars, answer_chars, refused, answer_truncated
  FROM turn
  ON CONFLICT (event_id) DO UPDATE SET
    had_context = excluded.had_context, num_passages = excluded.num_passages, top_score = excluded.top_score,
    mean_score = excluded.mean_score, context_chars = excluded.context_chars, answer_chars = excluded.answer_chars,
    refused = excluded.refused, answer_truncated = excluded.answer_truncated
), stale AS (
  INSERT INTO rag_stale_hour (hour, stage)
  SELECT DISTINCT date_trunc('hour', ts, 'UTC'), 'publish' FROM saved
  ON CONFLICT (hour, stage) DO UPDATE SET touched_at = now()
)
SELECT count(*) FROM saved
