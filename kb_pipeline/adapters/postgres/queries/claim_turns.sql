-- In the order in which outcomes are settled, so that no two runs wait for each other. What the last call met stays
-- until the next one is settled: a claim given back is then what it was.
INSERT INTO rag_judge_score AS s (
  event_id, judge_model, prompt_version, ts, status, claimed_by, claim_lock, claimed_at, lease_until, idempotency_key,
  provisional)
SELECT
  c.event_id, %(judge_model)s, %(prompt_version)s, c.ts, 'claimed', %(claimed_by)s, %(claim_lock)s, clock_timestamp(),
  clock_timestamp() + make_interval(secs => %(lease_s)s), c.idempotency_key,
  %(provisional)s
FROM unnest(%(event_ids)s::text[], %(ts)s::timestamptz[], %(keys)s::text[]) AS c(event_id, ts, idempotency_key)
ORDER BY c.event_id
ON CONFLICT (event_id, judge_model, prompt_version) DO UPDATE SET
  status = 'claimed', claimed_by = excluded.claimed_by, claim_lock = excluded.claim_lock,
  claimed_at = excluded.claimed_at, lease_until = excluded.lease_until, idempotency_key = excluded.idempotency_key,
  provisional = excluded.provisional, skip_reason = NULL
WHERE s.status IN ('error', 'outdated') OR (s.status = 'claimed' AND NOT kb_claim_is_live(s.claim_lock, s.lease_until))
RETURNING event_id
