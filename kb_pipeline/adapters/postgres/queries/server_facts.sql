SELECT
  current_setting('server_version_num')::integer / 10000,
  current_setting('server_version'),
  current_setting('server_encoding'),
  pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean
