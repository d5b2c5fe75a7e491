"""The producer's side for Python applications: record a retrieval and never wait."""
