"""Packs: every rule proves itself by the lines it brings; dangerous commands are stopped, everyday ones are not."""

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest

from support.empty_disk import look
from support.guarding import context_with
from support.repos import git
from tmpwarden.guard.context import Context
from tmpwarden.guard.decide.evaluate import evaluate
from tmpwarden.guard.first_look import is_nothing
from tmpwarden.guard.rules.compiling import first_table
from tmpwarden.guard.rules.config import PRESETS_DIR, load, preset_names
from tmpwarden.guard.rules.rule import Rules
from tmpwarden.model.hot import Decision, ToolCall
from tmpwarden.oskit.files.disk import Disk, pushed_branch

CASES = Path(__file__).parents[1] / "cases"
PACKS = [name for name in preset_names() if name not in ("sandbox", "claude", "destructive")]
EVERYTHING = load((), preset="sandbox,destructive").rules
SCRATCH = "/tmp/tmpwarden-1000/0a1b2c3d"
KINDS = ("commands", "arguments", "redirects", "files")


def context_at(project: str, **more: Any) -> Context:
    usual = {"scratch": SCRATCH, "project": project, "cwd": project, "home": "/home/u", "uid": 1000, "look": look}
    return context_with(**{**usual, **more})


def said(command: str, rules: Rules, cwd: str = "/home/u/proj", branch: str | None = None) -> Decision:
    context = context_at("/home/u/proj", cwd=cwd, pushes=lambda directory: branch)
    return evaluate(ToolCall("claude", "shell", command=command, cwd=cwd), rules, context)


def rules_of(pack: str) -> list[dict[str, object]]:
    document = tomllib.loads((Path(PRESETS_DIR) / f"{pack}.toml").read_text())
    return [rule for kind in KINDS for rule in document.get("guard", {}).get(kind, [])]


def labels_of(pack: str) -> str:
    """The name before the colon of its rules: some rules keep that of the pack that they were in before."""
    document = tomllib.loads((Path(PRESETS_DIR) / f"{pack}.toml").read_text())
    return str(document["pack"].get("labels", pack))


def lines(name: str) -> list[str]:
    return [line for line in (CASES / name).read_text().splitlines() if line and line[0] != "#"]


@pytest.mark.parametrize("pack", PACKS)
def test_every_rule_says_why_what_instead_what_it_means_and_what_it_spares(pack: str) -> None:
    for rule in rules_of(pack):
        assert rule["id"] and rule["description"] and rule["alternative"], rule
        assert bool(rule.get("matches") and rule.get("spares")) or rule["id"] in (
            "file",
            "read-file",
            "variable-file",
        ), rule


@pytest.mark.parametrize("pack", PACKS)
def test_a_rule_speaks_about_what_it_says_it_means(pack: str) -> None:
    rules = load((), preset=pack).rules
    silent = []
    for rule in rules_of(pack):
        for line in rule.get("matches", ()):  # type: ignore[attr-defined]
            decision = said(line, rules)
            if decision.verdict not in ("ask", "deny") or f"{labels_of(pack)}:{rule['id']}" not in [
                c[2] for c in decision.commands
            ]:
                silent.append((rule["id"], line, decision.verdict, decision.rule))
    assert silent == []


@pytest.mark.parametrize("pack", PACKS)
def test_what_a_rule_spares_no_rule_of_its_pack_speaks_about(pack: str) -> None:
    rules = load((), preset=pack).rules
    spared = [(rule["id"], line) for rule in rules_of(pack) for line in rule.get("spares", ())]  # type: ignore[attr-defined]
    assert [(name, line, said(line, rules).rule) for name, line in spared if said(line, rules).verdict != "pass"] == []


BOTH, PACKS_ALONE = "sandbox,destructive", "destructive"


@pytest.mark.parametrize(
    ("presets", "name", "least"),
    [
        (BOTH, "dangerous.txt", 200),
        (BOTH, "dangerous_of_teams.txt", 60),
        (BOTH, "dangerous_of_stack.txt", 140),
        (BOTH, "dangerous_of_third.txt", 420),
        (BOTH, "dangerous_held_out.txt", 295),
        (BOTH, "dangerous_of_others.txt", 140),
        (BOTH, "dangerous_afterwards.txt", 65),
        (BOTH, "dangerous_of_fifth.txt", 215),
        (BOTH, "dangerous_of_eighth.txt", 115),
        (BOTH, "dangerous_of_ninth.txt", 145),
        (PACKS_ALONE, "dangerous.txt", 200),
        (PACKS_ALONE, "dangerous_of_teams.txt", 60),
        (PACKS_ALONE, "dangerous_of_stack.txt", 140),
    ],
)
def test_nearly_everything_dangerous_is_asked_about_or_denied(presets: str, name: str, least: int) -> None:
    rules = load((), preset=presets).rules
    dangerous = [line.replace("\\n", "\n") for line in lines(name)]
    passed = [line for line in dangerous if said(line, rules).verdict not in ("ask", "deny")]
    assert len(dangerous) >= least
    assert len(passed) <= 0.03 * len(dangerous), passed


@pytest.mark.parametrize(
    "name",
    [
        "everyday.txt",
        "everyday_of_packs.txt",
        "everyday_of_teams.txt",
        "everyday_of_stack.txt",
        "everyday_of_seven.txt",
        "everyday_of_sessions.txt",
        "everyday_of_others.txt",
    ],
)
def test_nearly_nothing_of_every_day_is_asked_about(tmp_path: Path, name: str) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.py").write_text("print(1)\n")
    project, disk, ours = str(tmp_path), Disk(), {"TMPDIR": SCRATCH}
    context = context_at(project, look=disk.look, is_plain=disk.is_plain, variables=ours, owns=lambda path: True)
    everyday = [line.replace("\\n", "\n") for line in lines(name)]
    calls = [ToolCall("claude", "shell", command=line, cwd=project) for line in everyday]
    asked = [call.command for call in calls if evaluate(call, EVERYTHING, context).verdict in ("ask", "deny")]
    assert len(everyday) >= 100
    assert len(asked) < 0.03 * len(everyday), asked


@pytest.mark.parametrize(("name", "least"), [("dangerous_of_sixth.txt", 260), ("dangerous_of_seventh.txt", 180)])
def test_of_the_newest_lists_no_more_is_missed_than_was_read(name: str, least: int) -> None:
    """Written to find what is not covered; what is left in them was judged not worth a question on ordinary days."""
    dangerous = [line.replace("\\n", "\n") for line in lines(name)]
    passed = [line for line in dangerous if said(line, EVERYTHING).verdict not in ("ask", "deny")]
    assert len(dangerous) >= least
    assert len(passed) <= 0.06 * len(dangerous), passed


def test_what_loses_local_work_is_caught_by_the_sandbox_alone() -> None:
    first = (
        (CASES / "dangerous_of_others.txt").read_text().partition("# --- sandbox\n")[2].partition("# --- packs\n")[0]
    )
    rules = load((), preset="sandbox").rules
    dangerous = [line.replace("\\n", "\n") for line in first.splitlines()]
    passed = [line for line in dangerous if said(line, rules).verdict not in ("ask", "deny")]
    assert len(dangerous) == 100
    assert len(passed) <= 3, passed


def test_the_first_look_stays_and_never_says_what_the_packs_do_not_say() -> None:
    table = json.loads(json.dumps(first_table(EVERYTHING)))
    proofs = [
        line for pack in PACKS for rule in rules_of(pack) for key in ("matches", "spares") for line in rule.get(key, ())
    ]  # type: ignore[attr-defined]
    every = [*proofs, *lines("dangerous.txt"), *lines("everyday_of_packs.txt"), "cat /e't'c/shadow", "head -2 .e'nv'"]
    quick = [line for line in every if is_nothing(line, table, "/home/u/proj")]
    assert [line for line in quick if said(line, EVERYTHING).verdict != "pass"] == []
    plain = [
        "ls -la",
        "git status",
        "git status && npm test",
        "cat a | head",
        "grep -rn x src",
        "wc -l *.py",
        "pytest -q",
    ]
    assert [line for line in plain if not is_nothing(line, table, "/home/u/proj")] == []


@pytest.mark.parametrize("command", ["cat config", "head a", "grep x *"])
def test_in_a_directory_of_secrets_the_first_look_leaves_it_to_the_rules(command: str) -> None:
    table = json.loads(json.dumps(first_table(EVERYTHING)))
    assert not is_nothing(command, table, "/home/u/.ssh")


def config(tmp_path: Path, text: str) -> Rules:
    path = tmp_path / "config.toml"
    path.write_text(text)
    loaded = load((str(path),))
    assert not loaded.is_broken, loaded.mistakes
    return loaded.rules


TRUSTING = '[guard]\npresets = ["destructive"]\ntrusted = ["kind-*", "dev", "localhost"]\n'


@pytest.mark.parametrize(
    ("command", "verdict"),
    [
        ("kubectl --context kind-a delete ns x", "pass"),
        ("kubectl --context=dev delete ns x", "pass"),
        ("kubectl delete ns x --context dev", "pass"),
        ("kubectl delete ns x", "ask"),
        ("kubectl --context prod delete ns x", "ask"),
        ("kubectl --context dev --context prod delete ns x", "ask"),
        ('kubectl --context "$C" delete ns x', "ask"),
        ("kubectl --context dev --kubeconfig other delete ns x", "ask"),
        ("kubectl --context dev --server https://prod delete ns x", "ask"),
        ("aws --profile dev ec2 terminate-instances --instance-ids i", "pass"),
        ("aws --profile prod ec2 terminate-instances --instance-ids i", "ask"),
        ("psql -h localhost -c 'drop table x'", "pass"),
        ("psql -hlocalhost -c 'drop table x'", "pass"),
        ("psql postgres://u:p@localhost:5432/app -c 'drop table x'", "pass"),
        ("psql -h prod -c 'drop table x'", "ask"),
        ("psql -c 'drop table x'", "ask"),
    ],
)
def test_a_place_that_is_named_and_trusted_passes(tmp_path: Path, command: str, verdict: str) -> None:
    assert said(command, config(tmp_path, TRUSTING)).verdict == verdict


@pytest.mark.parametrize(
    ("branch", "command", "verdict"),
    [
        ("feature/x", "git push --force-with-lease", "pass"),
        ("feature/x", "git push --force-with-lease origin", "pass"),
        ("main", "git push --force-with-lease", "ask"),
        (None, "git push --force-with-lease", "ask"),
        ("feature/x", "git -C ../other push --force-with-lease", "ask"),
        ("feature/x", 'cd "$D" && git push --force-with-lease', "ask"),
        ("feature/x", "git push --force-with-lease --tags", "ask"),
        ("feature/x", "git push --force-with-lease origin v1:refs/tags/v1", "ask"),
        ("feature/x", "git push --force", "ask"),
    ],
)
def test_a_lease_passes_to_a_branch_that_is_known_and_not_protected(
    branch: str | None, command: str, verdict: str
) -> None:
    assert said(command, EVERYTHING, branch=branch).verdict == verdict


def test_protected_branches_are_the_users(tmp_path: Path) -> None:
    rules = config(tmp_path, '[guard]\npresets = ["git"]\nprotected = ["stable"]\n')
    assert said("git push --force-with-lease origin stable", rules).verdict == "ask"
    assert said("git push --force-with-lease origin main", rules).verdict == "pass"


def test_a_rule_of_a_pack_can_be_switched_off_by_its_name(tmp_path: Path) -> None:
    rules = config(tmp_path, '[guard]\npresets = ["git"]\noff = ["git:hard-reset"]\n')
    assert said("git reset --hard", rules).verdict == "pass"
    assert said("git clean -fd", rules).verdict == "ask"


def test_the_branch_is_read_from_the_files_of_the_repository(tmp_path: Path) -> None:
    repository = tmp_path / "r"
    git(tmp_path, "init", "-q", "-b", "feature/x", str(repository))
    (repository / "sub").mkdir()
    assert pushed_branch(str(repository), str(tmp_path)) == "feature/x"
    assert pushed_branch(str(repository / "sub"), str(tmp_path)) == "feature/x"
    git(repository, "config", "push.default", "upstream")
    assert pushed_branch(str(repository), str(tmp_path)) is None
    assert pushed_branch(str(tmp_path / "none"), str(tmp_path)) is None


@pytest.mark.parametrize("name", ["settings.json", "settings.local.json", "hooks/x.sh", "projects/-p/a.jsonl"])
def test_what_steers_the_agent_is_asked_about_by_shell_and_by_file_tool_and_reading_is_free(name: str) -> None:
    rules = load((), preset="sandbox").rules
    path = f"/home/u/.claude/{name}"
    context = context_at("/home/u/proj", own=("/home/u/.claude",))
    verdicts = [
        evaluate(ToolCall("claude", tool, paths=(path,), cwd="/home/u/proj"), rules, context).verdict
        for tool in ("write", "edit", "read")
    ]
    assert verdicts == ["ask", "ask", "pass"]
    shell = [f"echo x > {path}", f"sed -i s/a/b/ {path}", f"rm {path}", f"cat {path}"]
    calls = [ToolCall("claude", "shell", command=line, cwd="/home/u/proj") for line in shell]
    assert [evaluate(call, rules, context).verdict for call in calls] == ["ask", "ask", "ask", "pass"]


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("write", {"content": "PORT=1\nTMPWARDEN_DISABLE=1\n"}),
        ("edit", {"edits": [{"old_string": "a", "new_string": "XDG_STATE_HOME=/x"}]}),
        ("patch", {"command": "*** Update File: .env\n+XDG_CONFIG_HOME=/x\n"}),
    ],
)
def test_a_variable_of_ours_in_a_projects_env_file_is_asked_about(tool: str, given: dict[str, object]) -> None:
    rules = load((), preset="sandbox").rules
    context = context_at("/home/u/proj")

    def verdict(said: dict[str, object], path: str = "/home/u/proj/.env") -> str:
        call = ToolCall("claude", tool, paths=(path,), cwd="/home/u/proj", tool_input=said)
        return evaluate(call, rules, context).verdict

    assert verdict(given) == "ask"
    assert verdict({"content": "PORT=1\n"}) == "pass"
    assert verdict(given, "/home/u/proj/notes") == "pass"


def test_packs_ship_with_the_package() -> None:
    assert {f"{pack}.toml" for pack in (*PACKS, "sandbox", "destructive")} <= set(os.listdir(PRESETS_DIR))


DRESSED = """\
g"i"t push --force
git push $'--force'
F=-f; git push origin main "$F"
set -- --force; git push "$@"
git -c ALIAS.X='push -f' x
git -calias.x='push -f' x
env -S 'git push --force'
sudo -E env A=1 git push -f
bash -lc "git push -f"
echo main | xargs git push -f origin
find . -name x -exec git push -f \\;
ssh h git push -f
f() { git push -f; }; f
git --no-pager --exec-path=/x push -f
git reset HEAD~1 --hard
kubectl --request-timeout 5s delete pod y
K=kubectl; $K delete ns x
kubectl get pods -o name | xargs kubectl delete
docker compose exec db psql -c 'drop table x'
docker run --rm postgres psql -h prod -c 'drop table x'
psql -c "dRoP/**/TaBlE x"
psql -c "delete from users -- where id=1"
psql -c "delete from users;select 1 where true"
psql <<< "drop table x"
yarn prisma migrate reset
poetry run python manage.py flush
cat "$PWD/.env"
cat .en[v]
cat {.env,a}
cd ~/.ssh; cat id_rsa
cd ~/.claude && echo x > settings.json
rm -rf node_modules/../src
systemctl -H root@prod stop nginx
kill -s KILL -- -1"""


@pytest.mark.parametrize("command", DRESSED.splitlines())
def test_dressed_up_it_is_still_seen(command: str) -> None:
    assert said(command, EVERYTHING).verdict in ("ask", "deny")
