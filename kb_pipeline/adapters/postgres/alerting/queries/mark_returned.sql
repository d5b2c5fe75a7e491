-- An alert was on its way and certainly not taken: it waits again, as if it had not been sent.
UPDATE kb_alert_outbox
SET state = 'pending', attempts = greatest(attempts - 1, 0)
WHERE (destination, fingerprint, kb_seq) = (%(destination)s, %(fingerprint)s, %(kb_seq)s) AND state = 'sent'
