SELECT
  (SELECT rolsuper OR rolcreaterole FROM pg_roles WHERE rolname = current_user)
  OR (SELECT count(*) = cardinality(%(roles)s::text[]) FROM pg_roles WHERE rolname = ANY (%(roles)s::text[]))
