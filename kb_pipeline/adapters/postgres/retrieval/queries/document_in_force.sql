-- From when a document of one tenant stands as it does now, null where it does not; and whether anything is known of
-- the tenant's documents at all.
SELECT
  max(valid_from) FILTER (
    WHERE doc_id = %(doc_id)s AND valid_from <= now() AND (valid_to IS NULL OR valid_to > now())),
  count(*) > 0
FROM kb_source.kb_chunk
WHERE org_id = %(org_id)s AND specialist_id = %(specialist_id)s
