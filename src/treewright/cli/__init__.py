"""The command line, one file per verb. Heavy imports wait until a verb runs."""
