"""Hide secrets in what we write down: an audit line outlives the password that an agent typed. Hot path: no regexes.

A secret is known by how it begins (`ghp_`), by the word before it (`password=`), or by its place (`://user:here@host`).
What only leads to one stays readable: `$TOKEN`, `{token}`, a call, the name of a file.
"""

HIDDEN = "[hidden]"
# How a secret begins, and how many characters it has at least behind that.
_PREFIXES = (
    ("ghp_", 20), ("gho_", 20), ("ghu_", 20), ("ghs_", 20), ("ghr_", 20), ("github_pat_", 20), ("glpat-", 16),
    ("sk-", 20), ("sk_live_", 16), ("rk_live_", 16), ("xox", 12), ("xapp-", 12), ("AKIA", 16), ("ASIA", 16),
    ("AIza", 30), ("npm_", 30), ("pypi-", 30), ("hf_", 20), ("eyJ", 30),
)  # fmt: skip
# The word right before `=` or `:`, or before a space where it is an option; and the shortest value that counts.
_WORDS = (
    ("password", 4), ("passwd", 4), ("passphrase", 4), ("secret", 6), ("token", 6), ("apikey", 8), ("api-key", 8),
    ("_key", 8), ("-key", 8), ("authorization", 6),
)  # fmt: skip
_OF_KEYS = 8
_FIRST_WORDS, _READ_FOR_NOTES = 80, 2000
_LONGEST_OPTION = 40
_SCHEMES = ("bearer ", "basic ", "token ", "digest ")
_IN_A_WORD = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
_IN_A_TOKEN = _IN_A_WORD | frozenset(".+/=")
_ENDS = frozenset(" \t\r\n\"'\\,;&|<>(){}[]`")
_LEADS_ELSEWHERE = frozenset("$%*?~/.@^")  # a value that begins so only says where the secret is
_KEY_BEGINS, _KEY_ENDS = "-----BEGIN ", "-----END "


def hide(text: str) -> str:
    """`text` with each secret in it replaced; the same object where there is none, as nearly always."""
    spans = [*_by_prefix(text), *_by_word(text), *_in_urls(text), *_of_curl(text), *_private_keys(text)]
    if not spans:
        return text
    parts, at = [], 0
    for begin, end in sorted(spans):
        if begin >= at:
            parts += [text[at:begin], HIDDEN]
        at = max(at, end)
    return "".join([*parts, text[at:]])


def first_words(command: str) -> str:
    """The beginning of a command, on one line, as notes keep it."""
    return hide(" ".join(command[:_READ_FOR_NOTES].split()))[:_FIRST_WORDS]


def without_password(url: str) -> str:
    """The address of a remote, such that git asks for what it needs."""
    return hide(url).replace(f":{HIDDEN}@", "@").replace(f"://{HIDDEN}@", "://")


def _by_prefix(text: str) -> "list[tuple[int, int]]":
    ranges = []
    for prefix, shortest in _PREFIXES:
        at = text.find(prefix)
        while at >= 0:
            begin = end = at + len(prefix)
            end = _run(text, begin, _IN_A_TOKEN)
            if end - begin >= shortest and (not at or text[at - 1] not in _IN_A_WORD) and _is_random(text[begin:end]):
                ranges.append((begin, end))
            at = text.find(prefix, end)
    return ranges


def _by_word(text: str) -> "list[tuple[int, int]]":
    ranges: list[tuple[int, int]] = []
    low = text.lower()
    if len(low) != len(text):  # some letters become two
        return ranges
    for word, shortest in _WORDS:
        at = low.find(word)
        while at >= 0:
            end = at + len(word)
            begin, end, is_secret = _value(text, low, end, shortest, is_option=_is_option(text, at))
            if is_secret:
                ranges.append((begin, end))
            at = low.find(word, end)
    return ranges


def _is_option(text: str, at: int) -> bool:
    """Whether the word at `at` ends an option such as `--db-password`."""
    begin = at
    while begin and at - begin < _LONGEST_OPTION and text[begin - 1] in _IN_A_WORD:
        begin -= 1
    return text.startswith("--", begin)


def _value(text: str, low: str, at: int, shortest: int, *, is_option: bool) -> "tuple[int, int, bool]":
    """Where the value of a name that ends at `at` begins and ends, and whether it is a secret."""
    sign_at = _past(text, at, "\"'\\")
    sign = text[sign_at : sign_at + 1]
    if sign not in ("=", ":") and not (is_option and sign == " "):
        return at, at, False
    at = sign_at
    begin = _past(text, at + 1, " ")
    is_bare = begin > at + 1 or sign == ":"  # `x = value`, `x: value`: also how programs are written
    quoted = _past(text, begin, "\\\"'")
    is_bare, begin = is_bare and quoted == begin and not is_option, quoted
    for scheme in _SCHEMES:
        if low.startswith(scheme, begin):
            is_bare, begin = False, begin + len(scheme)
    end = begin
    while end < len(text) and text[end] not in _ENDS:
        end += 1
    value = text[begin:end]
    if len(value) < shortest or value[0] in _LEADS_ELSEWHERE or value == HIDDEN or text[end : end + 1] == "(":
        return begin, end, False
    needs_digits = is_bare or shortest >= _OF_KEYS  # a sort key is a word, an API key is not
    return begin, end, not needs_digits or _is_random(value)


def _in_urls(text: str) -> "list[tuple[int, int]]":
    """`://user:password@host`, `://token@host`"""
    ranges, at = [], text.find("://")
    while at >= 0:
        begin = end = at + 3
        while end < len(text) and text[end] not in _ENDS and text[end] not in "/?#":
            end += 1
        user, is_one, _ = text[begin:end].rpartition("@")
        name, has_password, word = user.partition(":")
        word = word if has_password else user
        is_secret = has_password or (len(word) > 15 and _is_random(word))
        if is_one and word and word[0] not in _LEADS_ELSEWHERE and is_secret:
            begin += len(name) + 1 if has_password else 0
            ranges.append((begin, begin + len(word)))
        at = text.find("://", end)
    return ranges


def _of_curl(text: str) -> "list[tuple[int, int]]":
    """`curl -u user:password`"""
    ranges = []
    for option in (" -u ", " --user ") if "curl" in text else ():
        at = text.find(option)
        while at >= 0:
            begin = end = _past(text, at + len(option), "\"'")
            while end < len(text) and text[end] not in _ENDS:
                end += 1
            name, has_password, word = text[begin:end].partition(":")
            if has_password and word and word[0] not in _LEADS_ELSEWHERE:
                ranges.append((begin + len(name) + 1, end))
            at = text.find(option, end)
    return ranges


def _private_keys(text: str) -> "list[tuple[int, int]]":
    ranges: list[tuple[int, int]] = []
    at = text.find(_KEY_BEGINS)
    while at >= 0:
        begin = text.find("-----", at + len(_KEY_BEGINS))
        if begin < 0 or "PRIVATE KEY" not in text[at:begin]:
            return ranges
        end = text.find(_KEY_ENDS, begin)
        ranges.append((begin + 5, len(text) if end < 0 else end))
        at = text.find(_KEY_BEGINS, ranges[-1][1])
    return ranges


def _run(text: str, at: int, of: frozenset[str]) -> int:
    while at < len(text) and text[at] in of:
        at += 1
    return at


def _past(text: str, at: int, passed: str) -> int:
    while at < len(text) and text[at] in passed:
        at += 1
    return at


def _is_random(value: str) -> bool:
    """Letters and digits mixed, as in what a machine made: no word, no number, no name of a file."""
    return not value.isalpha() and any(char.isdigit() for char in value) and any(char.isalpha() for char in value)
