-- Audited calls of a window without a ledger row, oldest first. Bodies are fetched only where the verdict needs them.
-- A call waits for its body until body_deadline; one that was given up as missing_body comes back when its body has come.
SELECT
  c.event_id,
  c.ts,
  c.trace_id,
  coalesce(c.surface, ''),
  coalesce(c.tenant, ''),
  c.operation,
  coalesce(c.engine, ''),
  c.model,
  c.http_status,
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
  AND c.event_id <> ''
  AND (r.event_id IS NULL OR r.parse_status = 'missing_body')
  AND CASE
    WHEN NOT n.needed THEN r.event_id IS NULL
    WHEN b.request_body IS NOT NULL AND b.response_body IS NOT NULL THEN true
    ELSE r.event_id IS NULL AND c.ts < %(body_deadline)s
  END
ORDER BY c.ts, c.event_id
