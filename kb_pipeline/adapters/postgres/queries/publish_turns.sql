-- One row per synthesis call of the window; a row that would not change is not touched, one without its turn leaves.
-- The score published is that of the configured judge version, else the newest that any version gave. A provisional one
-- is none of these others, however new; once published as the configured version's it is provisional no more, so that
-- the next change of the judge does not take it back.
WITH turn AS (
  SELECT
    c.event_id, c.trace_id, c.ts, c.tenant, c.engine, c.surface, t.question_sha, t.question_preview, t.parse_status,
    m.had_context, m.num_passages, m.top_score, m.mean_score, m.context_chars, m.answer_chars, m.refused,
    m.answer_truncated, m.support_score, (m.opinion ->> 'doubt')::double precision AS doubt, c.evidence_intact, t.text_expired_at IS NOT NULL AS text_expired,
    s.faithfulness, s.answer_relevance, s.context_relevance,
    s.faithfulness_reason, s.answer_relevance_reason, s.context_relevance_reason,
    s.error_class, s.skip_reason, s.judged_at, s.judge_model, s.prompt_version, s.parts,
    CASE
      WHEN s.status = 'ok' THEN 'ok'
      WHEN t.parse_status <> ALL (%(judged_statuses)s) THEN 'skipped'
      WHEN s.status IN ('error', 'failed') THEN s.status
      WHEN s.status = 'claimed' AND s.error_class IS NOT NULL THEN 'error'
      WHEN s.status = 'skipped' THEN 'skipped'
      WHEN t.text_expired_at IS NOT NULL THEN 'skipped'
      WHEN %(judge_model)s::text IS NULL THEN 'disabled'
      WHEN NOT kb_is_judgeable(m.context_chars, m.answer_chars) THEN 'skipped'
      ELSE 'pending'
    END AS judge_status
  FROM rag_call AS c
  JOIN rag_triad AS t USING (event_id)
  JOIN rag_metric AS m USING (event_id)
  LEFT JOIN LATERAL (
    SELECT every.*
    FROM rag_judge_score AS every
    WHERE every.event_id = c.event_id
      AND ((every.status = 'ok' AND NOT every.provisional)
           OR (every.judge_model = %(judge_model)s AND every.prompt_version = %(prompt_version)s))
    ORDER BY
      every.status = 'ok' DESC,
      (every.judge_model = %(judge_model)s AND every.prompt_version = %(prompt_version)s) IS TRUE DESC,
      every.judged_at DESC NULLS LAST
    LIMIT 1
  ) AS s ON true
  WHERE c.ts >= %(window_start)s AND c.ts < %(window_end)s AND c.verdict = 'synthesis'
), adopted AS (
  UPDATE rag_judge_score SET provisional = false
  WHERE (event_id, judge_model, prompt_version) IN (
    SELECT event_id, judge_model, prompt_version
    FROM rag_judge_score
    WHERE ts >= %(window_start)s AND ts < %(window_end)s AND provisional AND status = 'ok'
      AND judge_model = %(judge_model)s AND prompt_version = %(prompt_version)s
    -- Whoever holds one of them is reading its turn anew: it will be no score then.
    FOR UPDATE SKIP LOCKED)
), gone AS (
  DELETE FROM rag_quality AS q
  WHERE q.ts >= %(window_start)s AND q.ts < %(window_end)s
    AND NOT EXISTS (SELECT FROM turn WHERE turn.event_id = q.event_id)
)
INSERT INTO rag_quality AS q (
  event_id, trace_id, ts, tenant, engine, surface, question_sha, question_preview, parse_status,
  had_context, num_passages, top_score, mean_score, context_chars, answer_chars, refused, answer_truncated,
  faithfulness, answer_relevance, context_relevance,
  faithfulness_reason, answer_relevance_reason, context_relevance_reason,
  judge_status, error_class, skip_reason, judge_model, prompt_version, support_score, evidence_intact, judged_at,
  disagreement, judge_parts)
SELECT
  event_id, trace_id, ts, tenant, engine, surface, question_sha, question_preview, parse_status,
  had_context, num_passages, top_score, mean_score, context_chars, answer_chars, refused, answer_truncated,
  CASE WHEN judge_status = 'ok' THEN faithfulness END,
  CASE WHEN judge_status = 'ok' THEN answer_relevance END,
  CASE WHEN judge_status = 'ok' THEN context_relevance END,
  CASE WHEN judge_status = 'ok' THEN faithfulness_reason END,
  CASE WHEN judge_status = 'ok' THEN answer_relevance_reason END,
  CASE WHEN judge_status = 'ok' THEN context_relevance_reason END,
  judge_status,
  CASE WHEN judge_status IN ('error', 'failed') THEN error_class END,
  CASE
    WHEN judge_status <> 'skipped' THEN NULL
    WHEN parse_status <> ALL (%(judged_statuses)s) THEN parse_status
    WHEN skip_reason IS NOT NULL THEN skip_reason
    WHEN text_expired THEN 'text_expired'
    ELSE 'too_long_for_judge'
  END,
  CASE WHEN judge_status NOT IN ('skipped', 'disabled') THEN coalesce(judge_model, %(judge_model)s) END,
  CASE WHEN judge_status NOT IN ('skipped', 'disabled') THEN coalesce(prompt_version, %(prompt_version)s) END,
  support_score, evidence_intact,
  CASE WHEN judge_status IN ('ok', 'error', 'failed') THEN judged_at END,
  CASE WHEN judge_status = 'ok' THEN kb_disagreement(faithfulness, support_score, doubt) END,
  CASE WHEN judge_status = 'ok' THEN parts END
FROM turn
ON CONFLICT (event_id, ts) DO UPDATE SET
  question_preview = excluded.question_preview, question_sha = excluded.question_sha,
  parse_status = excluded.parse_status, had_context = excluded.had_context, num_passages = excluded.num_passages,
  top_score = excluded.top_score, mean_score = excluded.mean_score, context_chars = excluded.context_chars,
  answer_chars = excluded.answer_chars, refused = excluded.refused, answer_truncated = excluded.answer_truncated,
  faithfulness = excluded.faithfulness, answer_relevance = excluded.answer_relevance,
  context_relevance = excluded.context_relevance, faithfulness_reason = excluded.faithfulness_reason,
  answer_relevance_reason = excluded.answer_relevance_reason,
  context_relevance_reason = excluded.context_relevance_reason,
  judge_status = excluded.judge_status, error_class = excluded.error_class, skip_reason = excluded.skip_reason,
  judge_model = excluded.judge_model, prompt_version = excluded.prompt_version,
  support_score = excluded.support_score, evidence_intact = excluded.evidence_intact, judged_at = excluded.judged_at,
  disagreement = excluded.disagreement,
  judge_parts = excluded.judge_parts
WHERE (
  q.question_preview, q.question_sha, q.parse_status, q.had_context, q.num_passages, q.top_score, q.mean_score,
  q.context_chars, q.answer_chars, q.refused, q.answer_truncated, q.faithfulness, q.answer_relevance,
  q.context_relevance, q.faithfulness_reason, q.answer_relevance_reason, q.context_relevance_reason, q.judge_status,
  q.error_class, q.skip_reason, q.judge_model, q.prompt_version, q.support_score, q.evidence_intact, q.judged_at,
  q.disagreement,
  q.judge_parts
) IS DISTINCT FROM (
  excluded.question_preview, excluded.question_sha, excluded.parse_status, excluded.had_context,
  excluded.num_passages, excluded.top_score, excluded.mean_score, excluded.context_chars, excluded.answer_chars,
  excluded.refused, excluded.answer_truncated, excluded.faithfulness, excluded.answer_relevance,
  excluded.context_relevance, excluded.faithfulness_reason, excluded.answer_relevance_reason,
  excluded.context_relevance_reason, excluded.judge_status, excluded.error_class, excluded.skip_reason,
  excluded.judge_model, excluded.prompt_version, excluded.support_score, excluded.evidence_intact, excluded.judged_at,
  excluded.disagreement,
  excluded.judge_parts
)
