"""Measures: LazyFrame -> LazyFrame with a declared result Table; one module per question."""
