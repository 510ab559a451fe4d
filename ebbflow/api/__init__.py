"""The public names: tables that say which name a program may write, and which room answers it.

`tables/` lists the names, `views` puts them together for each door (TF 2, TF 1, `compat.v1`), `namespace` makes
modules of them whose names are fetched on first use, `suggest` finds the name that was meant. `before_one` and
`adapters` hold the few thin functions where an era wanted other arguments. Everything else lives in the rooms below;
no room imports this one.
"""
