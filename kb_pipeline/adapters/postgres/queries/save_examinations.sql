-- Ledger row, triad and metrics of a chunk together or not at all; a call already in the ledger stays as it is, unless
-- its body was missing then, or it was read anew by other markers. A source that shows a call twice is taken at its best.
WITH picked AS MATERIALIZED (
  SELECT DISTINCT ON (event_id) *
  FROM stage_examination
  ORDER BY event_id, verdict = 'synthesis' DESC, parse_status IN ('ok', 'ok_length') DESC NULLS LAST, ts
), saved AS (
  INSERT INTO rag_call AS r (
    event_id, ts, trace_id, surface, tenant, operation, engine, model, http_status, verdict, parse_status,
    evidence_intact, template)
  SELECT
    event_id, ts, trace_id, surface, tenant, operation, engine, model, http_status, verdict, parse_status,
    evidence_intact, %(templates)s::jsonb ->> surface
  FROM picked
  ORDER BY event_id
  ON CONFLICT (event_id) DO UPDATE SET
    (verdict, parse_status, evidence_intact) = (
      -- What was recognised as a turn stays one, however the markers changed.
      SELECT r.verdict, r.parse_status, r.evidence_intact
      WHERE r.verdict = 'synthesis' AND r.parse_status <> 'missing_body' AND excluded.verdict <> 'synthesis'
      UNION ALL
      SELECT excluded.verdict, excluded.parse_status, excluded.evidence_intact
      WHERE r.verdict <> 'synthesis' OR r.parse_status = 'missing_body' OR excluded.verdict = 'synthesis'),
    template = excluded.template, examined_at = now()
  WHERE r.erased_at IS NULL AND excluded.parse_status IS DISTINCT FROM 'missing_body'
    AND (r.parse_status = 'missing_body'
         OR (r.template IS DISTINCT FROM excluded.template
             AND (r.verdict IN ('other', 'sampled_out') OR r.parse_status IN ('context_fallback', 'no_question'))))
  RETURNING event_id, ts, verdict, xmax <> 0 AS was_known
), turn AS (
  SELECT p.*, saved.was_known
  FROM picked AS p
  JOIN saved USING (event_id)
  WHERE p.verdict = 'synthesis'
), read_anew AS (
  SELECT turn.event_id
  FROM turn
  JOIN rag_triad AS t USING (event_id)
  WHERE turn.was_known
    AND (t.question, t.context, t.answer, t.history)
        IS DISTINCT FROM (turn.question, turn.context, turn.answer, turn.history)
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
    refused = excluded.refused, answer_truncated = excluded.answer_truncated,
    opinion = NULL, opinion_version = NULL, support_score = NULL
), outdated AS (
  -- A call in flight counts as made: the next one carries another key, or a gateway would replay the reply to this one.
  UPDATE rag_judge_score AS s SET
    status = 'outdated', attempts = 0, calls = calls + (status = 'claimed')::integer, lease_until = NULL,
    faithfulness = NULL, answer_relevance = NULL, context_relevance = NULL, faithfulness_reason = NULL,
    answer_relevance_reason = NULL, context_relevance_reason = NULL, error_class = NULL, error_detail = NULL
  FROM read_anew
  WHERE s.event_id = read_anew.event_id
), no_turn_after_all AS (
  DELETE FROM rag_triad AS t USING saved WHERE t.event_id = saved.event_id AND saved.was_known AND saved.verdict <> 'synthesis'
), no_metric_after_all AS (
  DELETE FROM rag_metric AS m USING saved WHERE m.event_id = saved.event_id AND saved.was_known AND saved.verdict <> 'synthesis'
), stale AS (
  INSERT INTO rag_stale_hour (hour, stage)
  SELECT DISTINCT date_trunc('hour', ts, 'UTC'), 'publish' FROM saved ORDER BY 1
  ON CONFLICT (hour, stage) DO UPDATE SET touched_at = now()
)
SELECT count(*) FROM saved
