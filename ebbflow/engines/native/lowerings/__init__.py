"""How each op becomes loops of machine code: a table of rules, one op each."""
