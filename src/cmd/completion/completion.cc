// SPDX-License-Identifier: Apache-2.0
#include "cmd/completion/completion.h"

#include "base/strings.h"

namespace cox::cmd {
namespace {

// In the scripts, @COMMANDS@ and @ARGUMENTS@ stand for the lists of the commands.
constexpr std::string_view kBash = R"script(# bash completion for coxswain
# Load it with: source <(coxswain completion bash)
_coxswain() {
  local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} words=""
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    words="@COMMANDS@"
  elif [[ $word == -* ]]; then
    words=$("${COMP_WORDS[0]}" help "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null |
      sed -nE 's/^ +(-[a-z], )?(--[a-z0-9-]+).*/\2/p')
  elif ((COMP_CWORD == 2)); then
    case $command in
@ARGUMENTS@    esac
  fi
  [[ -n $words ]] && mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _coxswain coxswain
)script";

constexpr std::string_view kZsh = R"script(#compdef coxswain
# zsh completion for coxswain
# Load it with: source <(coxswain completion zsh)
_coxswain() {
  local -a values
  if ((CURRENT == 2)); then
    values=(
@COMMANDS@    )
    _describe command values
  elif [[ $words[CURRENT] == -* ]]; then
    values=(${(f)"$($words[1] help $words[2,CURRENT-1] 2>/dev/null |
      sed -nE 's/^ +(-[a-z], )?(--[a-z0-9-]+).*/\2/p')"})
    compadd -a values
  else
    if ((CURRENT == 3)); then
      case $words[2] in
@ARGUMENTS@      esac
    fi
    _files
  fi
}
compdef _coxswain coxswain
)script";

constexpr std::string_view kFish = R"script(# fish completion for coxswain
# Load it with: coxswain completion fish | source
function __coxswain_flags
  set -l words (commandline -opc)
  $words[1] help $words[2..-1] 2>/dev/null |
    string replace -rf '^ +(?:-[a-z], )?(--[a-z0-9-]+).*' '$1'
end
@COMMANDS@complete -c coxswain -n 'not __fish_use_subcommand; and string match -q -- "-*" (commandline -ct)' -a '(__coxswain_flags)'
@ARGUMENTS@)script";

std::string Fill(std::string_view script, std::string_view commands, std::string_view arguments) {
  std::string text(script);
  text.replace(text.find("@COMMANDS@"), 10, commands);
  text.replace(text.find("@ARGUMENTS@"), 11, arguments);
  return text;
}

}  // namespace

Result<std::string> CompletionScript(std::string_view shell,
                                     std::span<const CompletedCommand> commands) {
  std::string names;
  std::string arguments;
  if (shell == "bash") {
    for (const CompletedCommand& command : commands) {
      names += (names.empty() ? "" : " ") + std::string(command.name);
      if (command.word.empty()) continue;
      arguments +=
          "      " + std::string(command.name) + ") words=" + std::string(command.word) + " ;;\n";
    }
    return Fill(kBash, names, arguments);
  }
  if (shell == "zsh") {
    for (const CompletedCommand& command : commands) {
      names += "      '" + std::string(command.name) + ":" + std::string(command.help) + "'\n";
      if (command.word.empty()) continue;
      arguments += "        " + std::string(command.name) + ") compadd " +
                   std::string(command.word) + " ;;\n";
    }
    return Fill(kZsh, names, arguments);
  }
  if (shell == "fish") {
    for (const CompletedCommand& command : commands) {
      names += "complete -c coxswain -n __fish_use_subcommand -f -a " + std::string(command.name) +
               " -d '" + std::string(command.help) + "'\n";
      if (command.word.empty()) continue;
      arguments += "complete -c coxswain -n '__fish_seen_subcommand_from " +
                   std::string(command.name) + "' -f -a " + std::string(command.word) + "\n";
    }
    return Fill(kFish, names, arguments);
  }
  return Status::BadRequest("no completion for the shell " + Quote(shell) +
                            "; supported: bash, zsh, fish");
}

}  // namespace cox::cmd
