"""Reports, resampling, comparison, tuning and curves."""
