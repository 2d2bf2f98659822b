"""The former place of criteria and recipes, which documents of version 0.1 named; it goes with version 0.3."""
