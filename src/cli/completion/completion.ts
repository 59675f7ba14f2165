// completion: prints the script that makes a shell propose commands, flags, values and names. The scripts call
// `runsheet __complete <words>`, which prints one proposal a line: the word, a tab and what it is.

import { printerFor, type Context } from '../context.ts';
import type { Shell } from '../flags/flag-kinds.ts';

/** The shell completes file names where this proposes nothing. */
const SCRIPTS: Readonly<Record<Shell, readonly string[]>> = {
  bash: [
    '_runsheet() {',
    '  local word',
    '  COMPREPLY=()',
    '  while IFS= read -r word; do',
    '    COMPREPLY+=("$(printf %q "${word%%$\'\\t\'*}")")',
    '  done < <(runsheet __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)',
    '}',
    'complete -o default -F _runsheet runsheet',
  ],
  zsh: [
    '_runsheet() {',
    '  local -a proposals',
    '  proposals=("${(@f)$(runsheet __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")',
    '  proposals=("${(@)proposals%%$\'\\t\'*}")',
    '  if [[ -n "$proposals" ]]; then compadd -a proposals; else _files; fi',
    '}',
    'compdef _runsheet runsheet',
  ],
  fish: [
    'function __runsheet_complete',
    '  set -l words (commandline -opc) (commandline -ct)',
    '  runsheet __complete $words[2..] 2>/dev/null',
    'end',
    "complete -c runsheet -a '(__runsheet_complete)'",
  ],
};

export default async function completion(this: Context, _: object, shell: Shell): Promise<void> {
  printerFor(this).data(SCRIPTS[shell].join('\n'));
}
