SELECT count(*) FILTER (WHERE kb_ensure_rag_quality_partition(month))
FROM generate_series(
  date_trunc('month', %(first)s::timestamptz, 'UTC'), %(last)s::timestamptz, interval '1 month') AS month
