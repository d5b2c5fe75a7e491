-- Judgments that are quarantined for a person: much speaks for the document and much against it.
--
--   psql "$DATABASE_URL" --set ON_ERROR_STOP=1 --file conflicts.sql
--        [--set org=… --set specialist=…] [--set rows=50]
--
-- Any role that reads our tables may run it (kb_api_reader); of queries it shows the redacted preview. Settle one with
-- `kb-pipeline ground-truth settle --query QUERY_SHA --doc DOC_ID --relevant|--not-relevant --author … --reason …`.

\if :{?org} \else \set org ''
\endif
\if :{?specialist} \else \set specialist ''
\endif
\if :{?rows} \else \set rows 50
\endif

SELECT
  truth.org_id,
  truth.specialist_id,
  query.query_preview,
  truth.query_sha,
  truth.doc_id,
  round(truth.positive::numeric, 2) AS positive,
  round(truth.negative::numeric, 2) AS negative,
  round(truth.p::numeric, 2)        AS p,
  truth.conversations,
  truth.kinds,
  truth.last_observed_at
FROM kb_ground_truth AS truth
LEFT JOIN kb_query AS query USING (org_id, specialist_id, query_sha)
WHERE truth.status = 'conflict'
  AND (:'org' = '' OR truth.org_id = nullif(:'org', '')::uuid)
  AND (:'specialist' = '' OR truth.specialist_id = nullif(:'specialist', '')::uuid)
ORDER BY truth.positive + truth.negative DESC, truth.org_id, truth.specialist_id, truth.query_sha, truth.doc_id
LIMIT :rows;
