-- No statement of this transaction takes longer than half a minute: an evaluation that waits is one that failed.
SELECT set_config('statement_timeout', '30s', true)
