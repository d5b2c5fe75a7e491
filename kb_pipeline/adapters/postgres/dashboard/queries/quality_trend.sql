-- Counts and sums of each hour or UTC day and judge version, for a trend; a filter that is null takes all.
-- {grounded} adds up bins of the histogram, one by one: that is ten times as fast as unnesting them.
SELECT
  {start} AS start,
  judge_model, prompt_version,
  sum(turns)::int AS turns, sum(graded)::int AS graded, sum(graded + pending + errors + failed + disabled)::int AS judgeable,
  sum(refused)::int AS refused, sum(had_context)::int AS had_context,
  sum({grounded})::int AS grounded,
  sum(faithfulness_n)::int AS faithfulness_n, sum(faithfulness_sum) AS faithfulness_sum,
  sum(faithfulness_sum_sq) AS faithfulness_sum_sq,
  sum(answer_relevance_n)::int AS answer_relevance_n, sum(answer_relevance_sum) AS answer_relevance_sum,
  sum(answer_relevance_sum_sq) AS answer_relevance_sum_sq,
  sum(context_relevance_n)::int AS context_relevance_n, sum(context_relevance_sum) AS context_relevance_sum,
  sum(context_relevance_sum_sq) AS context_relevance_sum_sq
FROM {table}
WHERE {column} >= %(first)s AND {column} < %(last)s
  AND (%(tenant)s::text IS NULL OR tenant = %(tenant)s)
  AND (%(surface)s::text IS NULL OR surface = %(surface)s)
  AND (%(engine)s::text IS NULL OR engine = %(engine)s)
GROUP BY {column}, judge_model, prompt_version
