-- Events of the hour whose lists are not what they should be; counted of the facts that expect_retrieval_events.sql shows.
SELECT
  count(*) FILTER (WHERE jsonb_typeof(e.retrieved) <> 'array') AS retrieved_no_list,
  count(*) FILTER (WHERE jsonb_typeof(e.candidate_pool) <> 'array') AS candidate_pool_no_list,
  count(*) FILTER (WHERE f.hits > %(max_hits)s) AS too_many_hits,
  count(*) FILTER (WHERE f.candidates > %(max_hits)s) AS too_many_candidates,
  count(*) FILTER (WHERE f.hits > e.result_count) AS more_hits_than_counted,
  count(*) FILTER (WHERE f.malformed_hits > 0) AS malformed_hits,
  count(*) FILTER (WHERE f.repeated_hits > 0) AS repeated_hits,
  count(*) FILTER (WHERE f.hits_out_of_order > 0) AS hits_out_of_order,
  count(*) FILTER (WHERE f.malformed_candidates > 0) AS malformed_candidates
FROM kb_retrieval_event AS e
CROSS JOIN LATERAL kb_list_facts(e.retrieved, e.candidate_pool) AS f
WHERE e.occurred_at >= %(window_start)s AND e.occurred_at < %(window_end)s
