-- Messages of the chat application.
INSERT INTO upstream.messages (id, conversation_id, org_id, specialist_id, role, content, trace_id, created_at)
SELECT * FROM unnest(
  %(ids)s::uuid[], %(conversation_ids)s::uuid[], %(org_ids)s::uuid[], %(specialist_ids)s::uuid[], %(roles)s::text[],
  %(contents)s::text[], %(trace_ids)s::text[], %(created_at)s::timestamptz[])
ON CONFLICT (id) DO NOTHING
