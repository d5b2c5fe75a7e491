-- Decisions made after the instant: how many, when the newest was written and made, which is the same here.
SELECT count(*), max(decided_at), max(decided_at) FROM kb_source.expert_queue_item
WHERE decided_at > %(since)s AND decided_at <= now()
