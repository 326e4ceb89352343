"""The guard's word on one call: rewrite, judge the text that will really run, answer what the agent can take."""
