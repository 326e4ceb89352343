"""Make command lines out of a grammar: every form of word, quote, redirect and compound command that bash knows."""

import random

WORDS = (
    "a", "b-c", "x=y", "--opt=v", "-rf", "'q s'", '"d s"', "a\\ b", "$'t\\tb'", "''", '""', "a'b'c", 'x"y z"', "\\$n",
    "'$n'", "a#b", "%", "@x", "a,b", "{}", "{a}", "{a,b}", "p{1,2}q", "{a,{b,c}}d", "{1..3}", "{c..a}", "{01..03}",
    "{a,b}{x,y}", "~", "~/x", "a~", "$V", '"$V"', "${V}", '"${V}w"', "${V:-d}", "${U:-d}", '"${U:-d e}"', "${V:+s}",
    "$((1+2))", '"$((2>1))"', "$[3]", "${#V}", "$?", "$(c7)", '"$(c7 "x y")"', "`c7`", '"`c7 \\"z\\"`"',
    "$(c7 $(c8))", "${U:-$(c7)}", "é", "日本", "a\\\nb", "it\\'s", '"a\\"b"', '"a\\\\b"', '"$"', "$", "a$", "if",
    "done", "!", "[", "]]", "-", "--", '"${V:-"in ner"}"', "\"${U:-a\\}b}\"", "${V%/*}", "${V#x}", "${V/a/b}",
    "a\\;b", "'a;b|c&d'", "$'\\x41\\u00e9'", "'a\nb'",
)  # fmt: skip
NAMES = ("c1", "c2", "c3", "cF", "'c1'", '"c2"', "c\\1", "$'c3'", "$N", "c1")
TARGETS = (
    "f1",
    "f2",
    "'f 3'",
    '"f4"',
    "f\\ 5",
    "d1/f6",
    "./f7",
    "d3/../f8",
    "$F",
    '"$F"x',
    "${F}y",
    "d1/d2/f9",
    "f{z}",
)
OPERATORS = (">", ">>", ">|", "2>", "&>", "&>>", ">&", "1>", "3>", "<>", "{fd}>", "2>>")


class Lines:
    """A source of lines; the same seed makes the same ones."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def line(self) -> str:
        start = self.random.choice(("", "", "V='v1'; ", "V=/a/b; N=c1; F=f10; ", "V='two words'; F=d3/f11\n", "N=c2; "))
        return start + self.sequence(3)

    def pick(self, *options: str) -> str:
        return self.random.choice(options)

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def sequence(self, depth: int) -> str:
        parts = [self.item(depth)]
        while self.chance(35) and len(parts) < 4:
            parts += [self.pick("; ", "\n", " && ", " || ", " ;\n", " &&\n  "), self.item(depth)]
        return "".join(parts)

    def item(self, depth: int) -> str:
        if depth <= 0 or self.chance(45):
            return self.simple()
        inner = self.sequence(depth - 1)
        nl = "\n"
        return self.random.choice(
            (
                f"( {inner}{nl})",
                f"{{ {inner}{nl}}}",
                f"if c1; then {inner}{nl}fi",
                f"if cF; then c1{nl}elif c2; then {inner}{nl}else c3; fi",
                f"for i in a 'b c'; do {inner}{nl}done",
                f"for ((i=0;i<2;i++)); do {inner}{nl}done",
                f"while c1; do {inner}{nl}break; done",
                f"until cF; do {inner}{nl}break; done",
                f"case x in y) c8;; x|z) {inner}{nl};; esac",
                f"case a in (a) {inner}{nl};& b) c2;; esac",
                f"f() {{ {inner}{nl}}}; f {self.word()}",
                f"function g {{ {inner}{nl}}}; g",
                f"c1 | {{ {inner}{nl}}}",
                f"! {{ {inner}{nl}}}",
                f"time {{ {inner}{nl}}}",
                f'c1 "$({inner}{nl})"',
                f"V=$({inner}{nl})",
                f"c1 <<EOF{nl}x $({inner}{nl}) y{nl}EOF{nl}c2",
                f"c1 <<'EOF'{nl}{inner}{nl}EOF{nl}c2",
                f"[[ a == a ]] && {{ {inner}{nl}}}",
                f"(( 1 > 0 )) && {{ {inner}{nl}}}",
                f"eval '{inner}'" if "'" not in inner else f"( {inner}{nl})",
                f"c1 ${{U:-$({inner}{nl})}}",
                f"arr=(1 $({inner}{nl}) 3)",
                f"{{ {inner}{nl}}} > {self.target()}",
                f"( {inner}{nl}) >> {self.target()}",
                f"{{ {inner}{nl}}} & wait",
                f"c1 # comment ; c9{nl}{inner}",
            )
        )

    def simple(self) -> str:
        if self.chance(14):
            return self.state()
        words = [self.random.choice(NAMES)]
        while self.chance(60) and len(words) < 6:
            words.append(self.word())
        if self.chance(15):
            words.insert(0, self.pick("A=1", "B='x y'", "A=$(c7)", "V=w", "A=~/x"))
        text = " ".join(words)
        if self.chance(25):
            text += f" {self.random.choice(OPERATORS)}{self.pick('', ' ')}{self.target()}"
        if self.chance(6):
            text += self.pick(" <<< word", ' <<<"$(c7)"', " 2>&1", " <&-", " < <(c7)", " <<E\n$V `c7`\nE")
        return text

    def state(self) -> str:
        """What changes the shell."""
        return self.pick(
            "cd d1", "cd d1/d2 && c2", "cd ..", "(cd d3 && c1 > f12)", "pushd d3 && c1", "cd nowhere || c2", "V=new",
            "export V=e", "unset V", "V+=more", "local x", "set -- p q; c1 \"$@\" $1", "F=f13", "cd d1 && c1 >f14",
            "N=c3", "read V <<< typed", "declare V=d", "cd \"$PWD\"", "V=~", ": ${U:=set}", "printf -v V pv", "shift",
            "((V=3))", "cd - ", "V=$V$V", "cd d3; c1 >> f15", "for V in 1 2; do c1 $V; done", "V='* x'; c1 \"$V\"",
            "IFS=:",
        )  # fmt: skip

    def word(self) -> str:
        return self.random.choice(WORDS)

    def target(self) -> str:
        return self.random.choice(TARGETS)
