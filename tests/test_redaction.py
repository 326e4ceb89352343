"""What is written down keeps no secret, and says everything else as it was."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tmpwarden.redaction import HIDDEN, first_words, hide, without_password

CASES = Path(__file__).parent / "guard" / "cases"
EVERYDAY = [line for file in sorted(CASES.glob("everyday*.txt")) for line in file.read_text().splitlines()]

# Made up: the shapes are those that the issuers publish.
GITHUB = "ghp_" + "aB3dE5fG7hI9" * 3
SECRETS = {
    "a GitHub token": (f"git clone https://x-access-token:{GITHUB}@github.com/o/r", GITHUB),
    "a GitHub token in a variable": (f"env GH={GITHUB} gh pr list", GITHUB[4:]),
    "an API key of a model": ("claude --key sk-ant-api03-Zz9yY8xX7wW6vV5uU4tT3s", "Zz9yY8xX7wW6vV5uU4tT3s"),
    "an AWS key id": ("aws configure set aws_access_key_id AKIAIOSFODNN7EXAMPLE", "IOSFODNN7EXAMPLE"),
    "an AWS secret": ("export AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCY1234", "wJalrXUtnFEMI"),
    "a Slack token": ("curl -d token=xoxb-17653672481-1987469-pdFZKVeTuE8sk7oO slack.com", "pdFZKVeTuE8sk7"),
    "a header with a bearer": ("curl -H 'Authorization: Bearer abc123def456' https://x", "abc123def456"),
    "a header with a password": ('curl -H "authorization: Basic dXNlcjpwYXNz" https://x', "dXNlcjpwYXNz"),
    "a header with an API key": ("curl -H 'X-Api-Key: 0f9e8d7c6b5a4938' https://x", "0f9e8d7c6b5a4938"),
    "a password in a URL": ("psql postgres://app:hunter2@db.example/app", "hunter2"),
    "a password as an option": ("mysqldump --password=hunter2 app", "hunter2"),
    "a password as an option's word": ("redis-cli --password hunter2 ping", "hunter2"),
    "an exported secret": ("export DJANGO_SECRET='correct horse'", "correct"),
    "curl's user": ("curl -u admin:hunter2 https://x", "hunter2"),
    "a password in JSON": ('{"login": {"user": "me", "password": "hunter2"}}', "hunter2"),
    "a password in JSON in JSON": (r'{"body": "{\"password\": \"hunter2\"}"}', "hunter2"),
    "an npm token": ("npm config set //registry/:_authToken=npm_" + "a1B2c3D4e5" * 4, "a1B2c3D4e5"),
    "a JSON web token": ("jwt decode eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4", "dozjgNryP4"),
    "a private key": ("cat -----BEGIN RSA PRIVATE KEY-----\nb3BlbnNz\n-----END RSA PRIVATE KEY-----", "b3BlbnNz"),
}  # fmt: skip
# What has the shape of a secret and is none.
HARMLESS = [
    "export TOKEN=$(cat ~/.token)",
    'curl -H "Authorization: Bearer $TOKEN" https://x',
    "mysql --password=$DB_PASSWORD app",
    'grep -rn "password=" src',
    "def f(token: string, password: str = None): pass",
    "password = getpass.getpass()",
    "kubectl create secret generic app --from-file=secret=./secret.txt",
    "sort --key=name --sort-key lastModified",
    "pytest --token-file=/run/secrets/token -k 'token or secret'",
    "git commit -m 'token: refresh it earlier'",
    "ls task-management-of-the-risk-desk1/disk-usage-of-every-machine-2",
    "curl http://localhost:8080/a@b?x=1",
    "docker run -u 1000:1000 alpine",
    "max_token=4096 max_tokens=100000",
    "ssh git@github.com && git clone git@github.com:o/r.git",
    "openssl req -new -key server.key -----BEGIN CERTIFICATE-----",
]


@pytest.mark.parametrize(("text", "secret"), SECRETS.values(), ids=SECRETS)
def test_a_secret_is_hidden_and_the_rest_is_not(text: str, secret: str) -> None:
    told = hide(text)
    assert secret not in told
    assert HIDDEN in told
    assert told.split()[0] == text.split()[0]


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_leads_to_a_secret_stays(text: str) -> None:
    assert hide(text) == text


def test_everyday_lines_stay_as_they_are() -> None:
    assert len(EVERYDAY) > 800
    assert [line for line in EVERYDAY if hide(line) != line] == []


def test_a_note_is_cut_after_its_secrets_are_hidden() -> None:
    """A secret cut in two would no longer look like one."""
    line = "x" * 60 + f" {GITHUB}"
    assert first_words(line) == "x" * 60 + " ghp_" + HIDDEN
    assert len(first_words("a b\n" * 100)) == 80


def test_a_remote_keeps_its_user_and_loses_its_password() -> None:
    assert without_password("https://me:hunter2@host/r.git") == "https://me@host/r.git"
    assert without_password(f"https://{GITHUB}@host/r.git") == "https://host/r.git"
    assert without_password("git@github.com:o/r.git") == "git@github.com:o/r.git"


pieces = st.sampled_from(
    ["token", "=", ":", "--", " ", '"', "\\", "://", "@", "ghp_", "a1B2", "-----BEGIN ", "PRIVATE KEY", "x"]
)


@given(st.lists(pieces | st.text(max_size=3), max_size=60))
def test_any_text_is_read_and_what_is_hidden_stays_hidden(parts: list[str]) -> None:
    told = hide("".join(parts))
    assert hide(told).count(HIDDEN) >= told.count(HIDDEN)
    for piece in told.split(HIDDEN):
        assert piece in "".join(parts)
