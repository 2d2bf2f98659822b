"""Tables: schema, readers for files and dataframes, type inference, encoding, bundled samples."""
