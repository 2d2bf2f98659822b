"""Trees as R's rpart grows and prunes them."""
