"""From a file or a dataframe to encoded columns: schema, type inference, reading, encoding."""
