"""scikit-learn estimators: parameters in, room calls, fitted attributes out. No algorithm lives here."""
