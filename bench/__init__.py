"""`make bench`: one table, ours beside the peers. Each module here offers `lines(quick) -> Iterable[Line]`."""
