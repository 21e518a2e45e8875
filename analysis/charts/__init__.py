"""Charts: small DataFrame -> alt.Chart; one module per question. Importing any of them applies the theme."""
