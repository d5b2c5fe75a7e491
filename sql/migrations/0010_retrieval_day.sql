-- Retrieval health of whole UTC days, so that a year is read from a few hundred rows.

CREATE TABLE kb_retrieval_day (
  day             date NOT NULL,
  org_id          uuid NOT NULL,
  specialist_id   uuid NOT NULL,
  engine          text NOT NULL,
  retrievals      int NOT NULL CHECK (retrievals >= 0),
  shadows         int NOT NULL,
  empty           int NOT NULL CHECK (empty BETWEEN 0 AND retrievals),
  degraded        int NOT NULL,
  with_message    int NOT NULL,
  result_count_sum bigint NOT NULL,
  top_score_n     int NOT NULL,
  top_score_sum   double precision NOT NULL,
  top_score_hist  int[] NOT NULL,
  latency_n       int NOT NULL,
  latency_sum     bigint NOT NULL,
  latency_hist    int[] NOT NULL,
  PRIMARY KEY (day, org_id, specialist_id, engine)
);
COMMENT ON TABLE kb_retrieval_day IS 'The sum of the hours of one UTC day of kb_retrieval_window. Tenancy: Org x Specialist.';
COMMENT ON COLUMN kb_retrieval_day.day IS 'The UTC day.';
COMMENT ON COLUMN kb_retrieval_day.org_id IS 'Organisation, first half of the tenancy key.';
COMMENT ON COLUMN kb_retrieval_day.specialist_id IS 'Specialist, second half of the tenancy key.';
COMMENT ON COLUMN kb_retrieval_day.engine IS 'The engine.';
COMMENT ON COLUMN kb_retrieval_day.retrievals IS 'Retrievals that served somebody; shadow runs are counted apart.';
COMMENT ON COLUMN kb_retrieval_day.shadows IS 'Shadow runs; they are in no other column.';
COMMENT ON COLUMN kb_retrieval_day.empty IS 'Retrievals without a result.';
COMMENT ON COLUMN kb_retrieval_day.degraded IS 'Retrievals with a part of the engine left out.';
COMMENT ON COLUMN kb_retrieval_day.with_message IS 'Retrievals whose draft was persisted.';
COMMENT ON COLUMN kb_retrieval_day.result_count_sum IS 'Sum of the results.';
COMMENT ON COLUMN kb_retrieval_day.top_score_n IS 'Retrievals whose best result has a score.';
COMMENT ON COLUMN kb_retrieval_day.top_score_sum IS 'Sum of the best scores.';
COMMENT ON COLUMN kb_retrieval_day.top_score_hist IS 'Best scores, in the bins of kb_retrieval_window.';
COMMENT ON COLUMN kb_retrieval_day.latency_n IS 'Retrievals with a latency.';
COMMENT ON COLUMN kb_retrieval_day.latency_sum IS 'Sum of the latencies in milliseconds.';
COMMENT ON COLUMN kb_retrieval_day.latency_hist IS 'Latencies, in the bins of kb_retrieval_window.';

-- The UTC day of an instant as the sum of its hours; whoever changes an hour calls it in the same transaction. Sums go
-- over exact numerics, so that the order of the hours changes no digit.
CREATE FUNCTION kb_add_up_retrieval_day(at timestamptz) RETURNS void LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  WITH hours AS (
    SELECT * FROM kb_retrieval_window
    WHERE hour >= (at AT TIME ZONE 'UTC')::date::timestamp AT TIME ZONE 'UTC'
      AND hour < ((at AT TIME ZONE 'UTC')::date + 1)::timestamp AT TIME ZONE 'UTC'
  ), score AS (
    SELECT org_id, specialist_id, engine, array_agg(n ORDER BY bin) AS counts
    FROM (SELECT org_id, specialist_id, engine, bin, sum(n)::int AS n
          FROM hours, unnest(top_score_hist) WITH ORDINALITY AS bins(n, bin) GROUP BY 1, 2, 3, 4) AS each
    GROUP BY 1, 2, 3
  ), latency AS (
    SELECT org_id, specialist_id, engine, array_agg(n ORDER BY bin) AS counts
    FROM (SELECT org_id, specialist_id, engine, bin, sum(n)::int AS n
          FROM hours, unnest(latency_hist) WITH ORDINALITY AS bins(n, bin) GROUP BY 1, 2, 3, 4) AS each
    GROUP BY 1, 2, 3
  ), fresh AS (
    SELECT
      org_id, specialist_id, engine, sum(retrievals) AS retrievals, sum(shadows) AS shadows, sum(empty) AS empty,
      sum(degraded) AS degraded, sum(with_message) AS with_message, sum(result_count_sum) AS result_count_sum,
      sum(top_score_n) AS top_score_n, sum(top_score_sum::numeric)::float8 AS top_score_sum,
      sum(latency_n) AS latency_n, sum(latency_sum) AS latency_sum
    FROM hours
    GROUP BY 1, 2, 3
  ), gone AS (
    DELETE FROM kb_retrieval_day AS d
    WHERE d.day = (at AT TIME ZONE 'UTC')::date
      AND NOT EXISTS (
        SELECT FROM fresh AS f WHERE (f.org_id, f.specialist_id, f.engine) = (d.org_id, d.specialist_id, d.engine))
  )
  INSERT INTO kb_retrieval_day AS d
  SELECT
    (at AT TIME ZONE 'UTC')::date, org_id, specialist_id, engine, f.retrievals, f.shadows, f.empty, f.degraded,
    f.with_message, f.result_count_sum, f.top_score_n, f.top_score_sum, s.counts, f.latency_n, f.latency_sum, l.counts
  FROM fresh AS f
  JOIN score AS s USING (org_id, specialist_id, engine)
  JOIN latency AS l USING (org_id, specialist_id, engine)
  ON CONFLICT (day, org_id, specialist_id, engine) DO UPDATE SET
    retrievals = excluded.retrievals, shadows = excluded.shadows, empty = excluded.empty,
    degraded = excluded.degraded, with_message = excluded.with_message,
    result_count_sum = excluded.result_count_sum, top_score_n = excluded.top_score_n,
    top_score_sum = excluded.top_score_sum, top_score_hist = excluded.top_score_hist,
    latency_n = excluded.latency_n, latency_sum = excluded.latency_sum, latency_hist = excluded.latency_hist
  WHERE d.* IS DISTINCT FROM excluded.*;
END $$;
COMMENT ON FUNCTION kb_add_up_retrieval_day(timestamptz) IS 'Makes the rows of kb_retrieval_day of the UTC day that holds an instant.';

DO $$
DECLARE
  each date;
BEGIN
  FOR each IN SELECT DISTINCT (hour AT TIME ZONE 'UTC')::date FROM kb_retrieval_window LOOP
    PERFORM kb_add_up_retrieval_day(each::timestamp AT TIME ZONE 'UTC');
  END LOOP;
END $$;
