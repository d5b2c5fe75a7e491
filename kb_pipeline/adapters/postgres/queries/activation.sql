SELECT start_at FROM kb_activation WHERE feature = %(feature)s
