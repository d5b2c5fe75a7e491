  -- A turn with text that no run judges just now, and whose wait after a failure is over.
  AND t.parse_status = ANY (%(judged_statuses)s)
  AND t.text_expired_at IS NULL
  AND kb_is_judgeable(m.context_chars, m.answer_chars)
  AND (s.event_id IS NULL
       OR s.status = 'outdated'
       OR (s.status = 'error' AND (s.retry_at > %(due_at)s::timestamptz) IS NOT TRUE)
       OR (s.status = 'claimed' AND s.claim_lock IS DISTINCT FROM %(claim_lock)s::integer
           AND NOT kb_claim_is_live(s.claim_lock, s.lease_until)))
