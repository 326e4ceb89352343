"""Sets of names, and the variables that mean more than their value: to bash, to zsh, to the loader, to programs."""


def names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# they decide which program a name means, how words are read, or what runs before and beside the command
_BASH = names(
    "PATH BASH_ALIASES BASH_CMDS BASH_COMPAT BASH_ENV BASH_LOADABLES_PATH BASH_XTRACEFD BASHOPTS CDPATH "
    "COMP_WORDBREAKS DIRSTACK ENV EXECIGNORE FIGNORE FUNCNEST GLOBIGNORE GLOBSORT HISTFILE INPUTRC POSIXLY_CORRECT "
    "PROMPT_COMMAND PS0 PS1 PS2 PS4 SHELLOPTS TIMEFORMAT TMOUT histchars auto_resume"
)
# zsh has them as arrays beside those in capitals, and tables in which an entry makes a command
_ZSH = names(
    "ARGV0 FPATH MODULE_PATH NULLCMD READNULLCMD STTY USERNAME GID ZDOTDIR PROMPT PROMPT2 PROMPT3 PROMPT4 RPROMPT RPS1 "
    "SPROMPT prompt aliases argv builtins cdpath commands dirstack dis_aliases dis_builtins dis_functions dis_galiases "
    "dis_reswords dis_saliases fignore fpath functions galiases history mailpath manpath module_path modules nameddirs "
    "options parameters path patchars pipestatus psvar reswords saliases status userdirs watch zsh_eval_context"
)
_LOADER = names("GCONV_PATH LOCPATH NLSPATH SIMPLE_BACKUP_SUFFIX VERSION_CONTROL TAR_OPTIONS GREP_OPTIONS")
SPECIAL = _BASH | _ZSH | _LOADER
_SPECIAL_HEADS = ("LD_", "DYLD_", "BASH_FUNC_")
# bash sets them by itself: what a line assigns to them is ignored, refused or soon replaced
SHELLS_TO_SET = names(
    "_ BASHPID BASH_ARGC BASH_ARGV BASH_ARGV0 BASH_COMMAND BASH_LINENO BASH_REMATCH BASH_SOURCE BASH_SUBSHELL COLUMNS "
    "BASH_VERSINFO DIRSTACK EPOCHREALTIME EPOCHSECONDS EUID FUNCNAME GROUPS HISTCMD LINENO LINES OLDPWD OPTARG OPTIND "
    "PIPESTATUS PPID PWD RANDOM SECONDS SHLVL SRANDOM UID"
)
# inherited, these change what a command means; the others mean something only where a line or a start-up file sets them
INHERITED = _LOADER | names(
    "ARGV0 BASH_COMPAT BASH_ENV BASH_LOADABLES_PATH BASH_XTRACEFD BASHOPTS ENV EXECIGNORE FPATH FUNCNEST GLOBIGNORE "
    "GLOBSORT MODULE_PATH NULLCMD POSIXLY_CORRECT READNULLCMD SHELLOPTS STTY ZDOTDIR"
)
PROMPTS = names(
    "PS4 PROMPT4 PS0 PS1 PROMPT_COMMAND PROMPT"
)  # expanded, with the code in them, when the shell shows them
LISTS = ("PATH", "path", "DIRS", "dirs")  # variables that end so hold several paths with colons between them


def is_special(name: str) -> bool:
    return name in SPECIAL or name.startswith(_SPECIAL_HEADS)


def is_special_inherited(name: str) -> bool:
    return name in INHERITED or name.startswith(("LD_", "DYLD_"))
