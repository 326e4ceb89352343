"""What a git repository holds that exists nowhere else. Its contents are untrusted: nothing it configures is run."""
