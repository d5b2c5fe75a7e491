-- The next deliverer of a destination may begin.
SELECT pg_advisory_unlock(hashtext('kb_alert_delivery'), hashtext(%(destination)s))
