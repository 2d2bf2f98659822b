"""The tree of Weka's J48, grown as that program grows it."""
