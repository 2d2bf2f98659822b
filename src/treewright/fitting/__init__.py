"""The one way from data to a model: in memory, out of core, case by case."""
