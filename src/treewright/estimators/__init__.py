"""scikit-learn estimators: they validate parameters, call the other packages and set fitted attributes."""
