"""scan -> evidence -> judge -> act -> journal."""
