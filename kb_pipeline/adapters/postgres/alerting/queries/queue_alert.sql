-- One alert for each destination, behind those of its fingerprint.
INSERT INTO kb_alert_outbox (destination, fingerprint, kb_seq, payload, queued_at)
SELECT destination, %(fingerprint)s, %(kb_seq)s, %(payload)s, %(now)s
FROM unnest(%(destinations)s::text[]) AS destination
