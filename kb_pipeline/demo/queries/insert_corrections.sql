-- What experts made of drafts.
INSERT INTO upstream.corrections (id, message_id, expert_id, original_text, corrected_text, created_at)
SELECT * FROM unnest(
  %(ids)s::uuid[], %(message_ids)s::uuid[], %(expert_ids)s::uuid[], %(original_texts)s::text[],
  %(corrected_texts)s::text[], %(created_at)s::timestamptz[])
ON CONFLICT (id) DO NOTHING
