"""Repositories of others, whose contents are untrusted: nothing they configure is run. Three doors: the modules here
say what a repository holds that exists nowhere else, `rescue` saves it, `worktrees` removes what is proven to hold
nothing."""
