-- Retrieval events written after the instant: how many, when the newest was written, when the newest happened.
SELECT count(*), max(created_at), max(occurred_at) FROM kb_retrieval_event WHERE created_at > %(since)s
