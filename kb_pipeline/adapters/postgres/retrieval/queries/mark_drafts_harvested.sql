-- Says of which state and by which rules the evidence of these drafts is.
UPDATE kb_draft_outcome AS o
SET harvested_state = harvested.state
FROM unnest(%(message_ids)s::uuid[], %(states)s::text[]) AS harvested (message_id, state)
WHERE o.message_id = harvested.message_id AND o.harvested_state IS DISTINCT FROM harvested.state
