"""What everything means, rendered from where it is declared: the schema, the docstrings, the rules, the claims.

`docstrings` takes a docstring apart · `method` finds the questions, their measures, results and figures · `dictionary`
lists tables and columns, with the questions that use them · `json_schema` publishes a table as JSON Schema · `words`
renders all that as Markdown and for a terminal · `site` builds the documentation of the API around it.

Nothing is written here that stands elsewhere: to change what a page says, change the column, the docstring or the rule.
"""
