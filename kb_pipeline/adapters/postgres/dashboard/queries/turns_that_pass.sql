-- How many turns of a period's UTC days pass a filter; a part of it that is null takes all.
SELECT coalesce(sum(turns), 0)::bigint
FROM rag_quality_day
WHERE day >= (%(window_start)s::timestamptz AT TIME ZONE 'UTC')::date
  AND day <= (%(window_end)s::timestamptz AT TIME ZONE 'UTC')::date
  AND (%(tenant)s::text IS NULL OR tenant = %(tenant)s)
  AND (%(surface)s::text IS NULL OR surface = %(surface)s)
  AND (%(engine)s::text IS NULL OR engine = %(engine)s)
