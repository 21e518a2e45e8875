"""A second opinion of the numbers on the pages, in plain Python over the raw records."""
