"""The interactive view. Only `app` and `screens` know Textual; nothing else of tmpwarden imports them."""
