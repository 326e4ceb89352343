"""Weigh a finding: gather evidence, judge it, and what policy adds. Changes nothing."""
