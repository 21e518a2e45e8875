"""The command line: one module per subcommand, with its options, the end of its help page, and its run.

`main` reads the command line and turns errors into one line and an exit status; `shared` is what subcommands share.
A subcommand imports what it needs when it runs: the help pages need neither Polars nor papermill.
"""
