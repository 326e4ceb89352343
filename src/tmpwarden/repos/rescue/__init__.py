"""Save what exists nowhere else before its place goes: git work as bundles, documents as files, with a way back."""
