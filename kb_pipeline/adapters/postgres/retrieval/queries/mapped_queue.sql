-- mapped_queue
-- The experts' queue, where the operator mapped it.
SELECT message_id, status, rejection_reason, opened_at, decided_at, updated_at FROM kb_source.expert_queue_item
