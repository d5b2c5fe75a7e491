-- Adds search events from a JSON array of rows, in its order; gives the ids of those that were not there yet.
INSERT INTO kb_search_event (
  id, org_id, specialist_id, expert_id, conversation_id, message_id, search_id, event_type, query, doc_id, chunk_id,
  rank, result_count, occurred_at, query_sha)
SELECT
  new.id, new.org_id, new.specialist_id, new.expert_id, new.conversation_id, new.message_id, new.search_id,
  new.event_type, new.query, new.doc_id, new.chunk_id, new.rank, new.result_count, new.occurred_at, new.query_sha
FROM jsonb_array_elements(%(events)s::jsonb) WITH ORDINALITY AS sent (event, place)
CROSS JOIN jsonb_populate_record(NULL::kb_search_event, sent.event) AS new
ORDER BY sent.place
ON CONFLICT DO NOTHING
RETURNING id
