"""What a fleet's monitoring reads of one host: series by Prometheus' conventions, few, and without a path in them."""
