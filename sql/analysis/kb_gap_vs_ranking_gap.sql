-- C, gaps: of the drafts that experts corrected, where the right information went missing.
--
--   psql "$DATABASE_URL" --set ON_ERROR_STOP=1 --file kb_gap_vs_ranking_gap.sql
--        [--set since=… --set until=… --set org=… --set specialist=…]
--
-- Any role that reads our tables may run it (kb_api_reader); of queries it shows the redacted preview. "Not retrieved" is
-- no knowledge-base gap yet: the naive verdict files every article that stands too deep, or was not found, under the
-- authors instead of under the search. The first table holds both verdicts against each other; the second is the work
-- that follows from ours.

\if :{?since} \else \set since -infinity
\endif
\if :{?until} \else \set until infinity
\endif
\if :{?org} \else \set org ''
\endif
\if :{?specialist} \else \set specialist ''
\endif

\echo 'Corrected drafts by our verdict and the naive one'
SELECT
  gap.org_id,
  gap.specialist_id,
  gap.engine,
  gap.kind,
  CASE gap.kind
    WHEN 'kb_gap' THEN 'write the article'
    WHEN 'recall_gap' THEN 'mend indexing or query rewriting'
    WHEN 'ranking_gap' THEN 'mend the ranking'
    WHEN 'generation_gap' THEN 'mend the prompt or the model'
    ELSE ''
  END                                                                          AS remedy,
  CASE WHEN gap.kind = 'none' THEN '' WHEN gap.rank IS NULL THEN 'kb_gap' ELSE 'ranking_gap' END AS naive_verdict,
  count(*)                                                                     AS drafts,
  count(DISTINCT gap.conversation_id)                                          AS conversations,
  count(*) FILTER (WHERE gap.is_deep)                                          AS deep,
  percentile_disc(0.5) WITHIN GROUP (ORDER BY gap.rank)                        AS rank_p50,
  percentile_disc(0.5) WITHIN GROUP (ORDER BY gap.pool_rank)                   AS pool_rank_p50,
  round(avg(gap.support)::numeric, 2)                                          AS mean_support
FROM kb_retrieval_gap AS gap
WHERE gap.decided_at >= :'since' AND gap.decided_at < :'until'
  AND (:'org' = '' OR gap.org_id = nullif(:'org', '')::uuid)
  AND (:'specialist' = '' OR gap.specialist_id = nullif(:'specialist', '')::uuid)
GROUP BY gap.org_id, gap.specialist_id, gap.engine, gap.kind, naive_verdict
ORDER BY gap.org_id, gap.specialist_id, gap.engine, drafts DESC, gap.kind;

\echo 'Worth somebody''s work: gaps of one kind and subject from two conversations on'
SELECT
  task.org_id,
  task.specialist_id,
  task.kind,
  -- Of a knowledge-base gap the subject is the query that began it, of any other gap the document.
  coalesce(query.query_preview, task.subject) AS subject,
  task.conversations,
  task.gaps,
  task.first_seen_at::date                    AS first_seen,
  task.last_seen_at::date                     AS last_seen,
  task.examples[1]                            AS newest_message_id
FROM kb_gap_task AS task
LEFT JOIN kb_query AS query
  ON task.kind = 'kb_gap' AND query.org_id = task.org_id AND query.specialist_id = task.specialist_id
  AND query.query_sha = task.subject
WHERE task.last_seen_at >= :'since' AND task.first_seen_at < :'until'
  AND (:'org' = '' OR task.org_id = nullif(:'org', '')::uuid)
  AND (:'specialist' = '' OR task.specialist_id = nullif(:'specialist', '')::uuid)
ORDER BY task.conversations DESC, task.gaps DESC, task.org_id, task.specialist_id, task.kind, task.subject;
