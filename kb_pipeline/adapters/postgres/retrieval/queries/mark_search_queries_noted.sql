-- The same for experts' searches; one whose hash changes is read anew with all its steps.
UPDATE kb_search_event AS event
SET noted_at = now(), query_sha = noted.query_sha,
    harvested_by = CASE WHEN event.query_sha = noted.query_sha THEN event.harvested_by END
FROM unnest(%(ids)s::uuid[], %(query_shas)s::text[]) AS noted (id, query_sha)
WHERE event.id = noted.id
