-- Gives diagnoses their subjects; a row that has it already is not touched.
UPDATE kb_retrieval_gap AS g
SET subject = named.subject, updated_at = now()
FROM unnest(%(message_ids)s::uuid[], %(subjects)s::text[]) AS named (message_id, subject)
WHERE g.message_id = named.message_id AND g.subject IS DISTINCT FROM named.subject
