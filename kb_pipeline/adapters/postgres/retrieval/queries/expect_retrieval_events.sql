SELECT
  -- What Great Expectations reads: the retrieval events of one hour, each with the facts that a rule about its lists
  -- needs. The file begins with SELECT because Great Expectations asks for that. It goes through SQLAlchemy as text, so
  -- no percent sign stands in it, and no colon alone before a word.
  e.*,
  extract(epoch FROM e.occurred_at - e.created_at)::float8 AS seconds_ahead,
  jsonb_typeof(e.retrieved) AS retrieved_type,
  jsonb_typeof(e.candidate_pool) AS candidate_pool_type,
  r.hits, r.malformed_hits, r.repeated_hits, r.hits_out_of_order,
  r.hits - e.result_count AS uncounted_hits,
  c.candidates, c.malformed_candidates
FROM kb_retrieval_event AS e
CROSS JOIN LATERAL (
  SELECT
    count(*) AS hits,
    count(*) FILTER (WHERE is_malformed) AS malformed_hits,
    count(*) - count(DISTINCT (doc_id, chunk_id)) AS repeated_hits,
    count(*) FILTER (WHERE rank < rank_before) AS hits_out_of_order
  FROM (
    SELECT
      f.doc_id, f.chunk_id, f.rank,
      lag(f.rank) OVER (ORDER BY place) AS rank_before,
      coalesce(f.doc_id, '') = '' OR f.rank IS NULL OR f.rank < 1 OR f.rank <> floor(f.rank)
        OR jsonb_typeof(hit -> 'used_in_final') NOT IN ('boolean', 'null')
        OR jsonb_typeof(hit -> 'score') NOT IN ('number', 'null')
        OR jsonb_typeof(hit -> 'bm25_score') NOT IN ('number', 'null')
        OR jsonb_typeof(hit -> 'vector_similarity') NOT IN ('number', 'null')
        OR jsonb_typeof(hit -> 'rerank_score') NOT IN ('number', 'null')
        OR jsonb_typeof(hit -> 'pre_rerank_rank') NOT IN ('number', 'null') AS is_malformed
    FROM jsonb_array_elements(CASE WHEN jsonb_typeof(e.retrieved) = 'array' THEN e.retrieved END)
      WITH ORDINALITY AS h(hit, place)
    CROSS JOIN LATERAL (
      SELECT
        CASE WHEN jsonb_typeof(hit -> 'doc_id') = 'string' THEN hit ->> 'doc_id' END AS doc_id,
        hit ->> 'chunk_id' AS chunk_id,
        CASE WHEN jsonb_typeof(hit -> 'rank') = 'number' THEN (hit ->> 'rank')::numeric END AS rank
    ) AS f
  ) AS each
) AS r
CROSS JOIN LATERAL (
  SELECT count(*) AS candidates, count(*) FILTER (
    WHERE jsonb_typeof(hit -> 'doc_id') IS DISTINCT FROM 'string' OR hit ->> 'doc_id' = ''
      OR CASE WHEN jsonb_typeof(hit -> 'pre_rank') = 'number' THEN (hit ->> 'pre_rank')::numeric < 1 ELSE true END
  ) AS malformed_candidates
  FROM jsonb_array_elements(CASE WHEN jsonb_typeof(e.candidate_pool) = 'array' THEN e.candidate_pool END) AS hit
) AS c
WHERE e.occurred_at >= {window_start} AND e.occurred_at < {window_end}
