-- A destination has confirmed an alert.
INSERT INTO kb_alert_destination AS d (destination, last_confirmed_at)
VALUES (%(destination)s, %(now)s)
ON CONFLICT (destination) DO UPDATE SET last_confirmed_at = greatest(d.last_confirmed_at, excluded.last_confirmed_at)
