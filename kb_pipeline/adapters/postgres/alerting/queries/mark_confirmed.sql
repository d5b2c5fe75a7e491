-- An alert is there, and with it every earlier one of its fingerprint that was sent: the later one stands above them.
UPDATE kb_alert_outbox
SET state = 'confirmed', settled_at = %(now)s
WHERE (destination, fingerprint) = (%(destination)s, %(fingerprint)s) AND kb_seq <= %(kb_seq)s AND state = 'sent'
