-- Values of the window's judgments that are out of range.
SELECT
  count(*) FILTER (WHERE status <> ALL (%(statuses)s)) AS status_unknown,
  count(*) FILTER (WHERE grade NOT BETWEEN 0 AND %(max_grade)s) AS grade_out_of_range,
  count(*) FILTER (WHERE p NOT BETWEEN 0 AND 1) AS p_out_of_range,
  count(*) FILTER (WHERE positive < 0 OR positive IN ('NaN', 'Infinity')) AS positive_out_of_range,
  count(*) FILTER (WHERE negative < 0 OR negative IN ('NaN', 'Infinity')) AS negative_out_of_range,
  count(*) FILTER (WHERE conversations < 0) AS conversations_negative,
  count(*) FILTER (WHERE evidence_count < 1) AS evidence_missing,
  count(*) FILTER (WHERE NOT kinds <@ %(kinds)s::text[]) AS kind_unknown,
  count(*) FILTER (WHERE query_sha !~ %(sha_pattern)s) AS query_sha_not_hexadecimal,
  count(*) FILTER (WHERE char_length(query_sha) <> %(sha_chars)s) AS query_sha_of_another_length
FROM kb_ground_truth
WHERE created_at >= %(window_start)s AND created_at < %(window_end)s
