-- Events of the hour whose lists are not what they should be; expect_retrieval_events.sql has the same facts.
SELECT
  count(*) FILTER (WHERE jsonb_typeof(e.retrieved) <> 'array') AS retrieved_no_list,
  count(*) FILTER (WHERE jsonb_typeof(e.candidate_pool) <> 'array') AS candidate_pool_no_list,
  count(*) FILTER (WHERE r.hits > %(max_hits)s) AS too_many_hits,
  count(*) FILTER (WHERE c.candidates > %(max_hits)s) AS too_many_candidates,
  count(*) FILTER (WHERE r.hits > e.result_count) AS more_hits_than_counted,
  count(*) FILTER (WHERE r.malformed_hits > 0) AS malformed_hits,
  count(*) FILTER (WHERE r.repeated_hits > 0) AS repeated_hits,
  count(*) FILTER (WHERE r.hits_out_of_order > 0) AS hits_out_of_order,
  count(*) FILTER (WHERE c.malformed_candidates > 0) AS malformed_candidates
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
WHERE e.occurred_at >= %(window_start)s AND e.occurred_at < %(window_end)s
