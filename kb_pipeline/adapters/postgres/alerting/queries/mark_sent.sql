-- An alert was accepted by its destination.
UPDATE kb_alert_outbox
SET state = 'sent', sent_at = %(now)s, attempts = attempts + 1, reason = NULL
WHERE (destination, fingerprint, kb_seq) = (%(destination)s, %(fingerprint)s, %(kb_seq)s) AND state = 'pending'
