-- forget_event_words
-- Drops the words of the retrievals that served drafts which the source deleted; the rows stay, with all but the words.
UPDATE kb_retrieval_event
SET query = '', query_rewritten = NULL, text_expired_at = now()
WHERE message_id = ANY (%(message_ids)s::uuid[]) AND text_expired_at IS NULL
