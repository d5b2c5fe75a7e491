-- Evidence that stands and was seen at another tenant's event, draft or search.
SELECT
  count(*) FILTER (WHERE (r.org_id, r.specialist_id) <> (e.org_id, e.specialist_id)) AS evidence_of_another_tenants_event,
  count(*) FILTER (WHERE (d.org_id, d.specialist_id) <> (e.org_id, e.specialist_id)) AS evidence_of_another_tenants_draft,
  count(*) FILTER (WHERE (s.org_id, s.specialist_id) <> (e.org_id, e.specialist_id)) AS evidence_of_another_tenants_search
FROM kb_evidence AS e
LEFT JOIN kb_retrieval_event AS r ON r.id = e.event_id
LEFT JOIN kb_draft_outcome AS d ON d.message_id = e.message_id
LEFT JOIN kb_search_event AS s ON s.id = e.search_event_id
WHERE e.superseded_at IS NULL
