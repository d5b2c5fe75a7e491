-- For the rest of the transaction: one judging run at a time, and room enough to sort the evidence in memory.
SELECT
  pg_advisory_xact_lock(hashtext('kb_pipeline ground truth')),
  set_config('jit', 'off', true),
  set_config('work_mem', greatest(pg_size_bytes('256MB'), pg_size_bytes(current_setting('work_mem'))) / 1024 || 'kB', true)
