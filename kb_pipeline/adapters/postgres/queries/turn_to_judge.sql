SELECT
  t.event_id, t.ts, t.parse_status, t.question, t.context, t.passages, t.history, t.answer, t.finish_reason,
  m.had_context, m.num_passages, m.top_score, m.mean_score, m.context_chars, m.answer_chars, m.refused, m.answer_truncated,
  coalesce(s.attempts, 0),
  (SELECT coalesce(sum(every.calls), 0)::integer FROM rag_judge_score AS every WHERE every.event_id = t.event_id),
  CASE WHEN s.status = 'claimed' THEN s.idempotency_key END,
  coalesce(s.failed_runs, 0)
FROM rag_triad AS t
JOIN rag_metric AS m USING (event_id)
LEFT JOIN rag_judge_score AS s
  ON s.event_id = t.event_id AND s.judge_model = %(judge_model)s AND s.prompt_version = %(prompt_version)s
