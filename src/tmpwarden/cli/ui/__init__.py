"""The interactive view. Only `app` and `keys` know Textual; nothing else of tmpwarden imports them."""
