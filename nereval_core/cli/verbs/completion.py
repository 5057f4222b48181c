"""The verb `completion`: a script with which a shell completes verbs, options and their values."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass

from nereval_core.cli.options import Parser

HELP = "print a script with which bash, zsh or fish completes verbs and options"
USAGE = "{bash,zsh,fish}"
EXAMPLE = "bash"
NOTES = """\
bash: eval "$(nereval completion bash)" in ~/.bashrc
zsh:  eval "$(nereval completion zsh)" in ~/.zshrc, below compinit
fish: nereval completion fish > ~/.config/fish/completions/nereval.fish
"""
SHELLS = ("bash", "zsh", "fish")


@dataclass(frozen=True)
class CompletedVerb:
    """A verb with its help; `choices` are the values of each option, none where any text or path is allowed."""

    help: str
    choices: Mapping[str, tuple[str, ...]]
    option_help: Mapping[str, str]


def add_arguments(parser: Parser) -> None:
    parser.add_argument("shell", choices=SHELLS)


def run(options: argparse.Namespace) -> None:
    print({"bash": _bash, "zsh": _zsh, "fish": _fish}[options.shell](_completed_verbs()), end="")


def _completed_verbs() -> Mapping[str, CompletedVerb]:
    from nereval_core.cli import VERBS, verb_help, verb_parser

    verbs = {}
    for name in VERBS:
        actions = [action for action in verb_parser(name)._actions if action.help != argparse.SUPPRESS]
        choices = {flag: _values(action) for action in actions for flag in action.option_strings}
        words = {flag: _first_line(action.help) for action in actions for flag in action.option_strings[-1:]}
        verbs[name] = CompletedVerb(verb_help(name), choices, words)
    return verbs


def _values(action: argparse.Action) -> tuple[str, ...]:
    return tuple(map(str, action.choices or ()))


def _first_line(text: str | None) -> str:
    return (text or "").replace("%%", "%").partition("\n")[0]


def _quoted(text: str) -> str:
    """Return text in single quotes, as bash and zsh read them."""
    return "'" + text.replace("'", "'\\''") + "'"


def _cases(verbs: Mapping[str, CompletedVerb]) -> tuple[str, str]:
    """Return the branches of two `case` statements: the options by verb, and the values by verb and option."""
    options = [f"    {_quoted(name)}) options={_quoted(' '.join(verb.choices))} ;;" for name, verb in verbs.items()]
    values = [
        f"    {_quoted(f'{name} {flag}')}) values={_quoted(' '.join(choices))} ;;"
        for name, verb in verbs.items()
        for flag, choices in verb.choices.items()
        if choices
    ]
    return "\n".join(options), "\n".join(values)


def _bash(verbs: Mapping[str, CompletedVerb]) -> str:
    options, values = _cases(verbs)
    return f"""\
_nereval() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
  local verb=${{COMP_WORDS[1]}} options= values=
  [ "$verb" = review ] && verb="$verb ${{COMP_WORDS[2]}}"
  COMPREPLY=()
  if [ "$COMP_CWORD" = 1 ]; then
    values={_quoted(" ".join(dict.fromkeys(name.partition(" ")[0] for name in verbs)))}
  elif [ "$COMP_CWORD" = 2 ] && [ "$before" = review ]; then
    values={_quoted(" ".join(name.partition(" ")[2] for name in verbs if " " in name))}
  else
    case "$verb $before" in
{values}
    esac
    case "$verb" in
{options}
    esac
    [[ $current == -* ]] && values=$options
  fi
  [ -n "$values" ] && COMPREPLY=($(compgen -W "$values" -- "$current"))
}}
complete -o default -F _nereval nereval
"""


def _zsh(verbs: Mapping[str, CompletedVerb]) -> str:
    # zsh runs completions of bash: one script less that can go wrong.
    return "autoload -U +X bashcompinit && bashcompinit\n" + _bash(verbs)


def _fish(verbs: Mapping[str, CompletedVerb]) -> str:
    lines = ["complete -c nereval -n __fish_use_subcommand -f"]
    for name, verb in verbs.items():
        first, _, second = name.partition(" ")
        condition = f"__fish_seen_subcommand_from {first}"
        if second:
            unseen = f"{condition}; and not __fish_seen_subcommand_from {second}"
            lines.append(f"complete -c nereval -n '{unseen}' -f -a {second}")
            condition += f"; and __fish_seen_subcommand_from {second}"
        lines.append(f"complete -c nereval -n __fish_use_subcommand -a {first} -d {_fish_quoted(verb.help)}")
        for flag, choices in verb.choices.items():
            kind = f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}"
            words = f" -d {_fish_quoted(verb.option_help[flag])}" if flag in verb.option_help else ""
            values = f" -x -a {_fish_quoted(' '.join(choices))}" if choices else ""
            lines.append(f"complete -c nereval -n '{condition}' {kind}{words}{values}")
    return "\n".join(lines) + "\n"


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
