"""CAL2 and CAL3: trees that grow case by case."""
