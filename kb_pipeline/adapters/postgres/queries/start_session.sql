-- Sent once per connection. As a statement and not as the start-up parameter `options`, which poolers refuse.
SELECT
  set_config('TimeZone', 'UTC', false),
  set_config('search_path', 'public', false),
  set_config('statement_timeout', coalesce(%(statement_timeout)s::text, current_setting('statement_timeout')), false),
  set_config('role', coalesce(%(role)s::text, current_setting('role')), false)
