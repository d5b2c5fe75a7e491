-- Values of the hour's events that are out of range.
SELECT
  count(*) FILTER (WHERE top_k < 0) AS top_k_negative,
  count(*) FILTER (WHERE result_count < 0) AS result_count_negative,
  count(*) FILTER (WHERE latency_ms < 0) AS latency_negative,
  count(*) FILTER (WHERE engine <> ALL (%(engines)s)) AS engine_unknown,
  count(*) FILTER (WHERE occurred_at > created_at + interval '1 day') AS ahead_of_its_writing,
  count(*) FILTER (WHERE query_sha !~ %(sha_pattern)s) AS query_sha_not_hexadecimal,
  count(*) FILTER (WHERE char_length(query_sha) <> %(sha_chars)s) AS query_sha_of_another_length
FROM kb_retrieval_event
WHERE occurred_at >= %(window_start)s AND occurred_at < %(window_end)s
