-- The oldest turns of a window whose opinion is missing or by other rules: at most chunk, and as many as chunk_chars
-- hold, one at least. Locked; what another run has locked is left to it. Where the text is gone, an old opinion stays.
WITH due AS (
  SELECT
    m.event_id,
    row_number() OVER oldest AS place,
    sum(m.context_chars::bigint + m.answer_chars) OVER oldest AS chars
  FROM rag_metric AS m
  JOIN rag_triad AS t USING (event_id)
  WHERE m.ts >= %(window_start)s AND m.ts < %(window_end)s
    AND (m.opinion_version IS NULL OR (m.opinion_version <> %(version)s AND t.text_expired_at IS NULL))
  WINDOW oldest AS (ORDER BY m.ts, m.event_id)
  ORDER BY place
  LIMIT %(chunk)s
)
SELECT
  m.event_id, m.ts, t.text_expired_at IS NOT NULL,
  t.parse_status, t.question, t.context, t.passages, t.history, t.answer, t.finish_reason,
  m.had_context, m.num_passages, m.top_score, m.mean_score, m.context_chars, m.answer_chars, m.refused, m.answer_truncated
FROM due
JOIN rag_metric AS m USING (event_id)
JOIN rag_triad AS t USING (event_id)
WHERE (due.place = 1 OR due.chars <= %(chunk_chars)s) AND m.opinion_version IS DISTINCT FROM %(version)s
ORDER BY m.ts, m.event_id
FOR UPDATE OF m SKIP LOCKED
