-- The turns of the hours in which any passes the filter, as the windows have them, and of hours whose windows lag behind.
-- Where few turns of a long period pass, this reads fewer of them than an index in the order of the list.
(
  WITH day_of AS MATERIALIZED (
    SELECT DISTINCT day FROM rag_quality_day
    WHERE day >= (%(window_start)s::timestamptz AT TIME ZONE 'UTC')::date
      AND day <= (%(window_end)s::timestamptz AT TIME ZONE 'UTC')::date
      AND (%(tenant)s::text IS NULL OR tenant = %(tenant)s)
      AND (%(surface)s::text IS NULL OR surface = %(surface)s)
      AND (%(engine)s::text IS NULL OR engine = %(engine)s)
  ), hour_of AS MATERIALIZED (
    SELECT w.hour FROM day_of JOIN rag_quality_window AS w
      ON w.hour >= day_of.day::timestamp AT TIME ZONE 'UTC' AND w.hour < (day_of.day + 1)::timestamp AT TIME ZONE 'UTC'
    WHERE (%(tenant)s::text IS NULL OR w.tenant = %(tenant)s)
      AND (%(surface)s::text IS NULL OR w.surface = %(surface)s)
      AND (%(engine)s::text IS NULL OR w.engine = %(engine)s)
    UNION
    SELECT hour FROM rag_stale_hour
  )
  SELECT turn.*
  FROM hour_of CROSS JOIN LATERAL (
    SELECT * FROM rag_quality WHERE ts >= hour_of.hour AND ts < hour_of.hour + interval '1 hour'
  ) AS turn
) AS turns
