"""Why a tree is as it is: nodes, prunings, predictions and growth explained, in four languages and four forms."""
