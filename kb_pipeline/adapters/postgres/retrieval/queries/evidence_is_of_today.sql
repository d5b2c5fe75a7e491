-- Whether evidence `e` speaks of its document `d` as it is: none of its chunks is newer, none has ended since. Of a tenant
-- that the knowledge base does not show at all nobody can tell.
CASE
  WHEN d.doc_id IS NULL
    THEN (e.org_id, e.specialist_id) NOT IN (SELECT org_id, specialist_id FROM stage_known_tenant)
  ELSE d.started_at IS NOT NULL AND d.started_at <= coalesce(e.document_from, e.observed_at)
    AND (d.shrunk_at IS NULL OR d.shrunk_at <= e.observed_at)
END
