-- Adds retrieval events from a JSON array of rows, in its order; gives the ids of those that were not there yet.
-- Without a conflict target on purpose: the id and the message decide alike, and a partial index needs no naming.
INSERT INTO kb_retrieval_event (
  id, org_id, specialist_id, conversation_id, message_id, engine, query, top_k, result_count, latency_ms, retrieved,
  occurred_at, query_rewritten, query_sha, candidate_pool, kb_version, degraded, shadow, trace_id)
SELECT
  new.id, new.org_id, new.specialist_id, new.conversation_id, new.message_id, new.engine, new.query, new.top_k,
  new.result_count, new.latency_ms, new.retrieved, new.occurred_at, new.query_rewritten, new.query_sha,
  new.candidate_pool, new.kb_version, new.degraded, new.shadow, new.trace_id
FROM jsonb_array_elements(%(events)s::jsonb) WITH ORDINALITY AS sent (event, place)
CROSS JOIN jsonb_populate_record(NULL::kb_retrieval_event, sent.event) AS new
ORDER BY sent.place
ON CONFLICT DO NOTHING
RETURNING id
