-- Audited calls of a window without a ledger row, oldest first. Bodies are fetched only where the verdict needs them.
-- A call waits for its body until body_deadline; one that was given up as missing_body comes back when its body has come.
-- Asked to (reread), calls come back too whose verdict other markers may change: those that were decided by other ones.
-- An id that no index of ours could hold is left out; names of dimensions are cut to what one can.
SELECT
  c.event_id,
  c.ts,
  c.trace_id,
  left(coalesce(c.surface, ''), 120),
  left(coalesce(c.tenant, ''), 120),
  c.operation,
  left(coalesce(c.engine, ''), 120),
  c.model,
  CASE WHEN c.http_status BETWEEN 0 AND 32767 THEN c.http_status::integer END,
  n.needed AND b.request_body IS NOT NULL AND octet_length(b.request_body) > %(max_body_bytes)s,
  n.needed AND b.response_body IS NOT NULL AND octet_length(b.response_body) > %(max_body_bytes)s,
  CASE WHEN n.needed AND octet_length(b.request_body) <= %(max_body_bytes)s THEN b.request_body END,
  CASE WHEN n.needed AND octet_length(b.response_body) <= %(max_body_bytes)s THEN b.response_body END,
  CASE WHEN n.needed THEN b.prev_hash END,
  CASE WHEN n.needed THEN b.body_hash END
FROM kb_source.ai_call AS c
CROSS JOIN LATERAL (
  SELECT coalesce(c.surface, '') = ANY (%(surfaces)s) AND coalesce(c.tenant, '') <> %(pipeline_tenant)s AS needed
) AS n
LEFT JOIN kb_source.ai_call_body AS b ON b.event_id = c.event_id AND n.needed
LEFT JOIN rag_call AS r ON r.event_id = c.event_id
WHERE c.ts >= %(window_start)s AND c.ts < %(window_end)s
  AND c.event_id <> '' AND octet_length(c.event_id) <= 1000
  AND CASE
    WHEN r.event_id IS NULL THEN
      NOT n.needed OR (b.request_body IS NOT NULL AND b.response_body IS NOT NULL) OR c.ts < %(body_deadline)s
    WHEN NOT n.needed OR r.erased_at IS NOT NULL OR b.request_body IS NULL OR b.response_body IS NULL THEN false
    WHEN r.parse_status = 'missing_body' THEN true
    ELSE %(reread)s AND r.template IS DISTINCT FROM (%(templates)s::jsonb ->> c.surface)
      AND (r.verdict IN ('other', 'sampled_out') OR r.parse_status IN ('context_fallback', 'no_question'))
      AND NOT EXISTS (SELECT FROM rag_triad AS t WHERE t.event_id = c.event_id AND t.text_expired_at IS NOT NULL)
  END
ORDER BY c.ts, c.event_id
