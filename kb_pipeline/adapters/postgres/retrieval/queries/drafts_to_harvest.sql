-- drafts_to_harvest
-- Drafts with a decision and an event whose evidence is missing, or of another state or other rules; and those that were
-- harvested before they lost either.
SELECT message_id FROM kb_draft_outcome
WHERE harvested_state IS DISTINCT FROM source_state || '|' || %(rules)s
  AND ((outcome <> 'pending' AND event_id IS NOT NULL) OR harvested_state IS NOT NULL)
  -- What was seen at an event past its retention stands.
  AND (event_id IS NULL OR EXISTS (SELECT FROM kb_retrieval_event AS kept WHERE kept.id = event_id))
