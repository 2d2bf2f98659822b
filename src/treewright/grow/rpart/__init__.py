"""CART as R's rpart grows it: surrogates, priors, losses, complexity."""
