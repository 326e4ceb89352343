"""Find what catalogue rows speak of: findings, and where to look for them."""
