"""From frequency tables to a tree: criteria, candidates, stopping, recipes, growers."""
