INSERT INTO upstream.ai_call_bodies (event_id, request_body, response_body, prev_hash, body_hash, stored_at)
SELECT * FROM unnest(
  %(event_ids)s::text[], %(requests)b::bytea[], %(responses)b::bytea[], %(prev_hashes)b::bytea[],
  %(body_hashes)b::bytea[], %(stored_at)s::timestamptz[])
ON CONFLICT (event_id) DO NOTHING
