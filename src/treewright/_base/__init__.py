"""What every room may lean on: errors, exact arithmetic, atomic files, near names."""
