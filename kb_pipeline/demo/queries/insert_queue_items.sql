-- The experts' queue.
INSERT INTO upstream.expert_queue_items (
  message_id, status, rejection_reason, created_at, opened_at, decided_at, updated_at)
SELECT message_id, status, rejection_reason, created_at, opened_at, decided_at, coalesce(decided_at, created_at)
FROM unnest(
  %(message_ids)s::uuid[], %(statuses)s::text[], %(reasons)s::text[], %(created_at)s::timestamptz[],
  %(opened_at)s::timestamptz[], %(decided_at)s::timestamptz[])
  AS item (message_id, status, rejection_reason, created_at, opened_at, decided_at)
ON CONFLICT (message_id) DO NOTHING
