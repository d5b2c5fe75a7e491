-- The application's own record of the retrievals that served a draft.
INSERT INTO upstream.audit_log (event_type, message_id, conversation_id, trace_id, payload, created_at)
SELECT
  'kb.retrieval.context_loaded',
  message_id,
  conversation_id,
  trace_id,
  jsonb_build_object('doc_ids', doc_ids::jsonb, 'top_k', top_k, 'query_hash', query_hash),
  created_at
FROM unnest(
  %(message_ids)s::uuid[], %(conversation_ids)s::uuid[], %(trace_ids)s::text[], %(doc_ids)s::text[], %(top_k)s::int[],
  %(query_hashes)s::text[], %(created_at)s::timestamptz[])
  AS loaded (message_id, conversation_id, trace_id, doc_ids, top_k, query_hash, created_at)
