-- The session does nothing else for as long as the run lives, so no time-out of idle sessions may end it.
SELECT pg_try_advisory_lock(1801606505, %(claim_lock)s), set_config('idle_session_timeout', '0', false)
