-- Records, before they are read, whose and how many queries' words are about to be.
INSERT INTO kb_access_record (actor, purpose, run_id, ts_from, ts_to, bodies, body_bytes)
SELECT
  %(actor)s,
  %(purpose)s,
  NULL,
  min(query.first_seen_at),
  max(query.last_seen_at),
  count(*),
  coalesce(sum(octet_length(query.query)), 0)
FROM kb_query AS query
WHERE query.org_id = %(org_id)s AND query.specialist_id = %(specialist_id)s AND query.query IS NOT NULL
  AND CASE WHEN %(as_of)s::timestamptz IS NULL THEN EXISTS (
    SELECT FROM kb_ground_truth AS truth
    WHERE truth.org_id = query.org_id AND truth.specialist_id = query.specialist_id
      AND truth.query_sha = query.query_sha AND (truth.status = 'judged' OR truth.self_made)
    OFFSET 0)
  ELSE EXISTS (
    SELECT FROM kb_evidence AS evidence
    WHERE evidence.org_id = query.org_id AND evidence.specialist_id = query.specialist_id
      AND evidence.query_sha = query.query_sha AND evidence.observed_at <= %(as_of)s
    OFFSET 0)
  END
HAVING count(*) > 0
