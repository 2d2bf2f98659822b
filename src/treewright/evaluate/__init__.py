"""From predictions to honest numbers."""
