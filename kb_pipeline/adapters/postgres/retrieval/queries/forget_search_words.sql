-- forget_search_words
-- Drops the words of experts' searches for drafts that the source deleted; the rows stay.
UPDATE kb_search_event
SET query = NULL, text_expired_at = now()
WHERE message_id = ANY (%(message_ids)s::uuid[]) AND text_expired_at IS NULL
