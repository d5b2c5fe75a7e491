-- Events written since an instant, oldest first, one JSON object a row: keys, scores and hashes, no text.
SELECT
  created_at,
  jsonb_build_object(
    'id', id,
    'org_id', org_id,
    'specialist_id', specialist_id,
    'conversation_id', conversation_id,
    'message_id', message_id,
    'engine', engine,
    'query_sha', coalesce(query_sha, ''),
    'top_k', top_k,
    'result_count', result_count,
    'latency_ms', latency_ms,
    'doc_ids', (SELECT coalesce(jsonb_agg(coalesce(hit ->> 'doc_id', '') ORDER BY n), '[]')
                FROM jsonb_array_elements(retrieved) WITH ORDINALITY AS each_hit(hit, n)),
    'scores', (SELECT coalesce(jsonb_agg(hit -> 'score' ORDER BY n), '[]')
               FROM jsonb_array_elements(retrieved) WITH ORDINALITY AS each_hit(hit, n)),
    'used_in_final', (SELECT coalesce(jsonb_agg(hit -> 'used_in_final' ORDER BY n), '[]')
                      FROM jsonb_array_elements(retrieved) WITH ORDINALITY AS each_hit(hit, n)),
    'kb_version', coalesce(kb_version, ''),
    'degraded', degraded,
    'shadow', shadow,
    'trace_id', coalesce(trace_id, ''),
    'occurred_at', to_char(occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'),
    'created_at', to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')
  )::text
FROM kb_retrieval_event
WHERE created_at >= %(since)s
ORDER BY created_at, id
