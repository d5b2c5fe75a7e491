SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'timescaledb')
