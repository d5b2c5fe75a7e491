INSERT INTO kb_activation (feature, start_at) VALUES (%(feature)s, %(start_at)s) ON CONFLICT (feature) DO NOTHING
