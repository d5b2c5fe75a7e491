-- forget_evidence
-- Deletes the evidence taken from drafts that the source deleted, superseded or not.
DELETE FROM kb_evidence WHERE message_id = ANY (%(message_ids)s::uuid[])
