-- A turn that no number of calls allowed can judge: nobody waits for it any more.
INSERT INTO rag_judge_score AS s (
  event_id, judge_model, prompt_version, ts, status, idempotency_key, skip_reason, error_detail,
  provisional)
VALUES (
  %(event_id)s, %(judge_model)s, %(prompt_version)s, %(ts)s, 'skipped', %(idempotency_key)s, %(skip_reason)s,
  %(error_detail)s, %(provisional)s)
ON CONFLICT (event_id, judge_model, prompt_version) DO UPDATE SET
  status = 'skipped', skip_reason = excluded.skip_reason, error_detail = excluded.error_detail, lease_until = NULL,
  provisional = excluded.provisional
WHERE s.status IN ('error', 'outdated') OR (s.status = 'claimed' AND NOT kb_claim_is_live(s.claim_lock, s.lease_until))
