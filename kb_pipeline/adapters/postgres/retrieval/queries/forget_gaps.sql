-- forget_gaps
-- Deletes the diagnoses of drafts that the source deleted.
DELETE FROM kb_retrieval_gap WHERE message_id = ANY (%(message_ids)s::uuid[])
