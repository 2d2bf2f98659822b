"""J48, Weka's C4.5."""
