SELECT count(*), count(r.event_id)
FROM kb_source.ai_call AS c
LEFT JOIN rag_call AS r USING (event_id)
WHERE c.ts >= %(window_start)s AND c.ts < %(window_end)s
  AND c.event_id <> '' AND octet_length(c.event_id) <= 1000
