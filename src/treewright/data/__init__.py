"""From a file or a dataframe to columns of small codes: schema, inference, reading, encoding."""
