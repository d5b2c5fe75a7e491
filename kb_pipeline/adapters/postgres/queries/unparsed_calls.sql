-- The newest calls of one surface whose prompt the markers may not fit, with the stored request: turns that were not
-- parsed, and calls that count as other or have no ledger row yet, at most most_calls of either.
-- What was erased, or whose text expired, is not read again; a body over max_body_bytes is not fetched.
WITH turn AS (
  SELECT r.event_id, r.ts, r.verdict
  FROM rag_call AS r
  WHERE r.ts >= %(window_start)s AND r.ts < %(window_end)s
    AND r.surface = %(surface)s AND r.verdict = 'synthesis' AND r.erased_at IS NULL
    AND r.parse_status IN ('context_fallback', 'no_question', 'truncated_prompt')
    AND NOT EXISTS (SELECT FROM rag_triad AS t WHERE t.event_id = r.event_id AND t.text_expired_at IS NOT NULL)
  ORDER BY r.ts DESC, r.event_id DESC
  LIMIT %(most_calls)s
), other AS (
  SELECT c.event_id, c.ts, r.verdict
  FROM kb_source.ai_call AS c
  LEFT JOIN rag_call AS r ON r.event_id = c.event_id
  WHERE c.ts >= %(window_start)s AND c.ts < %(window_end)s
    AND left(coalesce(c.surface, ''), 120) = %(surface)s AND coalesce(c.tenant, '') <> %(pipeline_tenant)s
    AND (r.event_id IS NULL OR (r.verdict = 'other' AND r.erased_at IS NULL))
  ORDER BY c.ts DESC, c.event_id DESC
  LIMIT %(most_calls)s
)
SELECT
  w.ts,
  w.verdict,
  octet_length(b.request_body) > %(max_body_bytes)s,
  CASE WHEN octet_length(b.request_body) <= %(max_body_bytes)s THEN b.request_body END
FROM (SELECT * FROM turn UNION ALL SELECT * FROM other) AS w
JOIN kb_source.ai_call_body AS b ON b.event_id = w.event_id
WHERE b.request_body IS NOT NULL
ORDER BY w.verdict IS NOT DISTINCT FROM 'synthesis' DESC, w.ts DESC, w.event_id DESC
