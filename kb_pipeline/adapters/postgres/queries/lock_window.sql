SELECT pg_advisory_xact_lock(hashtext(%(stage)s || %(grain)s), hashtext(date_trunc(%(grain)s, %(window_start)s::timestamptz, 'UTC')::text))
