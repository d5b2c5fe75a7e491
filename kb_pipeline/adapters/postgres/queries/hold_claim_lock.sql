SELECT pg_try_advisory_lock(1801606505, %(claim_lock)s)
