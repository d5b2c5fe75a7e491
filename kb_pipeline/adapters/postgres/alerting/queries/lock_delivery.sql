-- One deliverer a destination; held for as long as the session lives.
SELECT pg_try_advisory_lock(hashtext('kb_alert_delivery'), hashtext(%(destination)s)), set_config('idle_session_timeout', '0', false)
