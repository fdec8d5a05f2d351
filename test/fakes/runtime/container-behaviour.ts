import {basename} from 'node:path';
import type {Message} from './cri-messages.js';

/** Behavior of a container's main process. */
export interface ContainerBehaviour {
  /** The exit code. Without one the process runs until it is stopped. */
  readonly exitCode?: number;
  /** Run time in ms. By default it exits immediately, before StartContainer returns. */
  readonly runForMs?: number;
  /** Output written to the log at the start. */
  readonly stdout?: string;
  readonly stderr?: string;
  /** Interval at which the output to stdout is repeated. By default it is written once. */
  readonly repeatsEveryMs?: number;
  /** Contents written to mounted files, by path in the container, before it exits. */
  readonly files?: Readonly<Record<string, string>>;
  /** Error of StartContainer, for example if the command does not exist. */
  readonly startError?: string;
  /** True if the OOM killer ends it: reason `OOMKilled`. */
  readonly oomKilled?: boolean;
  /** True if it ignores the stop signal, so that StopContainer kills it after its timeout. */
  readonly ignoresStop?: boolean;
  /** Reaction to the stop signal. By default the signal terminates it immediately. */
  readonly onStop?: {readonly exitCode?: number; readonly afterMs?: number; readonly stdout?: string};
}

/** Returns the behavior of a container by config and command line. Undefined means the default. */
export type ResolveBehaviour = (
  config: Message<'ContainerConfig'>,
  argv: readonly string[],
) => ContainerBehaviour | undefined;

/** Result of ExecSync. */
export interface ExecResult {
  readonly stdout?: string;
  readonly stderr?: string;
  readonly exitCode?: number;
  readonly runForMs?: number;
  /** runc's reason why the command cannot be started, such as `exec: "x": executable file not found in $PATH`. */
  readonly startError?: string;
}

/** Returns the result of a command in a container that has run for some time. Undefined means the default. */
export type ResolveExec = (
  argv: readonly string[],
  config: Message<'ContainerConfig'>,
  ranForMs: number,
) => ExecResult | undefined;

/**
 * Interprets simple shell commands: `true`, `false`, `exit N`, `echo TEXT`, `sleep SECONDS`, alone or in `sh -c` with
 * `;` and `&&`. Other commands run forever.
 */
export function defaultBehaviour(argv: readonly string[]): ContainerBehaviour {
  const outcome = runScript(scriptOf(argv));
  if (outcome.stdout === '') delete outcome.stdout;
  return outcome;
}

/** Interprets commands like defaultBehaviour, but unknown commands succeed, so that no exec waits forever. */
export function defaultExec(argv: readonly string[]): ExecResult {
  return {exitCode: 0, ...defaultBehaviour(argv)};
}

function scriptOf(argv: readonly string[]): readonly (readonly string[])[] {
  const [command = '', flag = '', script = ''] = argv;
  if (!/^(ba|a)?sh$/.test(basename(command)) || flag !== '-c') return [argv];
  return script
    .split(/;|&&|\n/)
    .map((part) => part.trim().split(/\s+/))
    .filter(([word]) => word !== '');
}

type Outcome = {-readonly [Key in keyof ContainerBehaviour]: ContainerBehaviour[Key]};

function runScript(commands: readonly (readonly string[])[]): Outcome {
  const outcome: Outcome = {stdout: '', exitCode: 0, runForMs: 0};
  for (const [command = '', ...args] of commands) {
    const step = STEPS[basename(command)];
    if (step === undefined) return {stdout: outcome.stdout ?? ''};
    if (step(outcome, args) === 'exit') return withoutEndlessSleep(outcome);
  }
  return withoutEndlessSleep(outcome);
}

const STEPS: Readonly<Record<string, (outcome: Outcome, args: readonly string[]) => 'exit' | 'next'>> = {
  true: (outcome) => code(outcome, 0),
  false: (outcome) => code(outcome, 1),
  exit: (outcome, [number = '0']) => {
    code(outcome, Number(number));
    return 'exit';
  },
  echo: (outcome, words) => {
    outcome.stdout = `${outcome.stdout ?? ''}${words.join(' ').replaceAll(/["']/g, '')}\n`;
    return code(outcome, 0);
  },
  sleep: (outcome, [seconds = '0']) => {
    outcome.runForMs =
      (outcome.runForMs ?? 0) + 1000 * (Number.isNaN(Number(seconds)) ? Infinity : Number(seconds));
    return code(outcome, 0);
  },
};

function code(outcome: Outcome, exitCode: number): 'next' {
  outcome.exitCode = exitCode;
  return 'next';
}

/** Removes `sleep infinity` and sleeps beyond the limit of a Node.js timer, which run until the process is stopped. */
function withoutEndlessSleep(outcome: Outcome): Outcome {
  return (outcome.runForMs ?? 0) < 2 ** 31 ? outcome : {stdout: outcome.stdout ?? ''};
}
