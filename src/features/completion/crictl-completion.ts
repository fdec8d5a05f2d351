import type {Shell} from './completion-scripts.js';
import {COMMAND_ALIASES, findCommand} from '../../cli/catalog/find-command.js';

/** Commands of crictl, in its order. */
const COMMANDS =
  'attach checkpoint completion config create events exec imagefsinfo images info inspect inspecti inspectp logs ' +
  'metricdescs metricsp pods port-forward ps pull rm rmi rmp run runp runtime-config start stats statsp stop stopp ' +
  'update update-runtime-config version';

/** Global flags of crictl, in its order. */
const FLAGS =
  '--config --debug --enable-tracing --image-endpoint --max-retries --profile-cpu --profile-mem --runtime-endpoint ' +
  '--timeout --tracing-endpoint --tracing-sampling-rate-per-million --help --version';

/** Returns a script that completes commands, aliases and global flags; for bash, it is byte-identical to crictl's. */
export async function crictlCompletionScript(shell: Shell): Promise<string> {
  const names = [...namesWithAliases(), 'help', 'h'];
  const flags = FLAGS.split(' ');
  if (shell === 'bash') return bashScript([...names, ...flags]);
  const described = await Promise.all(names.map(async (name) => [name, await meaningOf(name)] as const));
  return shell === 'zsh' ? zshScript(described, flags) : fishScript(described, flags);
}

function namesWithAliases(): readonly string[] {
  return COMMANDS.split(' ').flatMap((name) => [
    name,
    ...Object.keys(COMMAND_ALIASES).filter((alias) => COMMAND_ALIASES[alias] === name),
  ]);
}

type Described = readonly (readonly [name: string, meaning: string])[];

async function meaningOf(name: string): Promise<string> {
  const command = (await findCommand([name])?.load()) as {readonly summary?: string} | undefined;
  return (command?.summary ?? 'Show help').replaceAll("'", '’');
}

function bashScript(words: readonly string[]): string {
  return `_crictl() {
    local cur opts base
    COMPREPLY=()
    cur="\${COMP_WORDS[COMP_CWORD]}"
    opts="${words.join('\n')}"
    COMPREPLY=( $(compgen -W "\${opts}" -- \${cur}) )
    return 0
}

complete -F _crictl crictl
`;
}

function zshScript(commands: Described, flags: readonly string[]): string {
  return `#compdef crictl

_crictl() {
  local -a cmds
  cmds=(${commands.map(([name, meaning]) => `'${name}:${meaning}'`).join(' ')})
  _describe 'commands' cmds

  local -a opts
  opts=(${flags.map((flag) => `'${flag}'`).join(' ')})
  _describe 'global options' opts

  return
}

compdef _crictl crictl
`;
}

function fishScript(commands: Described, flags: readonly string[]): string {
  const lines = [
    ...commands.map(([name, meaning]) => `-a '${name}' -d '${meaning}'`),
    ...flags.map((flag) => `-l ${flag.slice(2)}`),
  ];
  return lines.map((line) => `complete -c crictl -n __fish_use_subcommand -f ${line}\n`).join('');
}
