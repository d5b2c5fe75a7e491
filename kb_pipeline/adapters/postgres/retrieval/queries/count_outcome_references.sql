-- Outcomes of the window whose event is gone, though not by its age, or is another draft's or tenant's; and drafts that
-- another tenant's event claims, which is the producer's mistake: such an event is joined with nothing.
SELECT
  count(*) FILTER (WHERE o.event_id IS NOT NULL AND e.id IS NULL AND o.drafted_at > %(kept_from)s)
    AS outcomes_without_their_event,
  count(*) FILTER (WHERE (e.org_id, e.specialist_id) <> (o.org_id, o.specialist_id))
    AS outcomes_of_another_tenants_event,
  count(*) FILTER (WHERE e.id IS NOT NULL AND e.message_id IS DISTINCT FROM o.message_id)
    AS outcomes_of_another_drafts_event,
  count(*) FILTER (WHERE (m.org_id, m.specialist_id) <> (o.org_id, o.specialist_id))
    AS drafts_with_another_tenants_event
FROM kb_draft_outcome AS o
LEFT JOIN kb_retrieval_event AS e ON e.id = o.event_id
LEFT JOIN kb_retrieval_event AS m ON m.message_id = o.message_id
WHERE (o.decided_at >= %(window_start)s AND o.decided_at < %(window_end)s)
   OR (o.outcome = 'pending' AND o.drafted_at >= %(window_start)s AND o.drafted_at < %(window_end)s)
