"""Alert rules as pure functions: from what windows add up to and what is remembered to a state and, maybe, a notice."""
