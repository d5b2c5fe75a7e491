-- Whether the user may take a role.
SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = %(role)s) AND pg_has_role(current_user, %(role)s, 'MEMBER')
