-- An alert was refused for good.
UPDATE kb_alert_outbox
SET state = 'dead', reason = %(reason)s, settled_at = %(now)s, attempts = attempts + 1, sent_at = %(now)s
WHERE (destination, fingerprint, kb_seq) = (%(destination)s, %(fingerprint)s, %(kb_seq)s)
  AND state IN ('pending', 'sent')
