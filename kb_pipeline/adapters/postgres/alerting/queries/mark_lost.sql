-- An alert was accepted and is not there: it is sent again, in its place.
UPDATE kb_alert_outbox
SET state = 'pending'
WHERE (destination, fingerprint, kb_seq) = (%(destination)s, %(fingerprint)s, %(kb_seq)s) AND state = 'sent'
