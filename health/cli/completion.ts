/**
 * `completion SHELL`: the lines by which a shell asks us what it may offer. `temporal health <TAB>` needs none of it: there
 * the completion of the Temporal CLI asks us.
 */
import { Argument } from '@commander-js/extra-typings';
import { contextOf } from './context.ts';
import type { Finish } from './context.ts';
import { EXIT } from './errors.ts';
import { examples } from './examples.ts';
import { write } from './output.ts';
import type { Program } from './program.ts';

const BASH = `# bash completion of temporal-health. Load it with: source <(temporal-health completion bash)
_temporal_health() {
  local line="\${COMP_LINE:0:COMP_POINT}" answer current directive=0
  local -a words candidates=()
  read -ra words <<< "$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  current="\${words[\${#words[@]} - 1]}"
  while IFS= read -r answer; do
    case $answer in
      :*) directive="\${answer#:}" ;;
      *) candidates+=("\${answer%%$'\\t'*}") ;;
    esac
  done < <("\${words[0]}" __complete "\${words[@]:1}" 2> /dev/null)
  if ((\${#candidates[@]} == 0 && !(directive & 4))); then
    while IFS= read -r answer; do candidates+=("$answer"); done < <(compgen -f -- "$current")
  fi
  # Readline replaces only what follows its last word break, and = may be one.
  local cut=""
  [[ $current == *=* && $COMP_WORDBREAKS == *=* ]] && cut="\${current%%=*}="
  COMPREPLY=("\${candidates[@]#"$cut"}")
  if ((directive & 2)); then compopt -o nospace 2> /dev/null || :; fi
  return 0
}
complete -F _temporal_health temporal-health
`;

const ZSH = `#compdef temporal-health
# zsh completion of temporal-health. Load it with: source <(temporal-health completion zsh)
_temporal_health() {
  local -a answers candidates options
  local answer directive
  answers=("\${(@f)$(\${words[1]} __complete "\${(@)words[2,CURRENT]}" 2> /dev/null)}")
  directive="\${answers[-1]#:}"
  for answer in "\${(@)answers[1,-2]}"; do
    if [[ $answer == *$'\\t'* ]]; then
      candidates+=("\${\${answer%%$'\\t'*}//:/\\\\:}:\${answer#*$'\\t'}")
    else
      candidates+=("\${answer//:/\\\\:}")
    fi
  done
  ((directive & 2)) && options=(-S '')
  if ((\${#candidates})); then
    _describe -t values 'temporal-health' candidates "\${options[@]}"
  elif ((!(directive & 4))); then
    _files
  fi
}
compdef _temporal_health temporal-health
`;

const FISH = `# fish completion of temporal-health. Load it with: temporal-health completion fish | source
function __temporal_health_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l answers ($words[1] __complete $words[2..-1] 2> /dev/null)
  set -l candidates (string match -v -r '^:\\d+$' -- $answers)
  if test (count $candidates) -gt 0
    printf '%s\\n' $candidates
  else if test "$answers[-1]" = ':0'
    __fish_complete_path (commandline -ct)
  end
end
complete -c temporal-health -f -a '(__temporal_health_complete)'
`;

const POWERSHELL = `# PowerShell completion of temporal-health. Load it with: temporal-health completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName temporal-health -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Where-Object { $_.Extent.StartOffset -lt $cursorPosition } |
    Select-Object -Skip 1 | ForEach-Object { $_.Extent.Text })
  # Before 7.3 an empty argument is lost on its way.
  if ($wordToComplete -eq '') { $words += if ($PSVersionTable.PSVersion -lt [version]'7.3') { '""' } else { '' } }
  temporal-health __complete @words 2> $null | Where-Object { $_ -notmatch '^:\\d+$' } | ForEach-Object {
    $value, $says = $_ -split "\`t", 2
    if (-not $says) { $says = $value }
    [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $says)
  }
}
`;

const SCRIPTS = { bash: BASH, zsh: ZSH, fish: FISH, powershell: POWERSHELL } as const;
const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const satisfies readonly (keyof typeof SCRIPTS)[];

export function addCompletion(program: Program, finish: Finish): void {
  program
    .command('completion')
    .description('lines that teach a shell to complete this command')
    .addHelpText('before', examples('completion bash', 'completion zsh'))
    .addArgument(new Argument('<shell>', 'whose lines').choices(SHELLS))
    .action(async (shell, _options, command) => {
      const { format } = contextOf(command.optsWithGlobals());
      if (format !== 'none') await write(SCRIPTS[shell]);
      finish(EXIT.done);
    });
}
