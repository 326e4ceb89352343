"""Which agent a command belongs to. Apart from the targets: `tmpwarden run` asks before every command."""

from ..agent_facts import FACTS

AGENT_OF = {program: name for name, facts in FACTS.items() for program in facts["programs"]}
