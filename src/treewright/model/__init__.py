"""What is learned, and nothing that learns: splits, trees, routing, printing, the model file."""
