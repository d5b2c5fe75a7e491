SELECT
  -- What Great Expectations reads: the retrieval events of one hour, each with the facts that a rule about its lists
  -- needs. The file begins with SELECT because Great Expectations asks for that. It goes through SQLAlchemy as text, so
  -- no percent sign stands in it, and no colon alone before a word.
  e.*,
  extract(epoch FROM e.occurred_at - e.created_at)::float8 AS seconds_ahead,
  jsonb_typeof(e.retrieved) AS retrieved_type,
  jsonb_typeof(e.candidate_pool) AS candidate_pool_type,
  f.hits, f.malformed_hits, f.repeated_hits, f.hits_out_of_order,
  f.hits - e.result_count AS uncounted_hits,
  f.candidates, f.malformed_candidates
FROM kb_retrieval_event AS e
CROSS JOIN LATERAL kb_list_facts(e.retrieved, e.candidate_pool) AS f
WHERE e.occurred_at >= {window_start} AND e.occurred_at < {window_end}
