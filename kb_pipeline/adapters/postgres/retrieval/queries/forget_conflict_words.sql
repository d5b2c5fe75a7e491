-- forget_conflict_words
-- Drops the content of second events of drafts that the source deleted; that there was a conflict stays.
UPDATE kb_retrieval_event_conflict
SET event = NULL
WHERE message_id = ANY (%(message_ids)s::uuid[]) AND event IS NOT NULL
