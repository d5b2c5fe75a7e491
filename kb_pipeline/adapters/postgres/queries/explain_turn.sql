SELECT
  c.event_id, c.trace_id, c.ts, c.tenant, c.surface, c.operation, c.engine, c.model, c.http_status, c.verdict,
  c.parse_status, c.evidence_intact, c.examined_at,
  t.question, t.context, t.passages, t.history, t.answer, t.finish_reason, t.question_sha, t.question_preview,
  t.text_expired_at,
  m.had_context, m.num_passages, m.top_score, m.mean_score, m.context_chars, m.answer_chars, m.refused,
  m.answer_truncated, m.support_score, m.opinion,
  q.judge_status, q.skip_reason, q.disagreement, q.created_at AS published_at
FROM rag_call AS c
LEFT JOIN rag_triad AS t USING (event_id)
LEFT JOIN rag_metric AS m USING (event_id)
LEFT JOIN rag_quality AS q ON q.event_id = c.event_id AND q.ts = c.ts
WHERE c.event_id = %(event_id)s
