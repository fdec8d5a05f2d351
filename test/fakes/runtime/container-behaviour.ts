import {basename} from 'node:path';
import type {Message} from './cri-messages.js';

/** What a container's first process does. */
export interface ContainerBehaviour {
  /** The exit code; without one the process runs until it is stopped. */
  readonly exitCode?: number;
  /** How long it runs before it exits; 0 (at once, before StartContainer answers) unless given. */
  readonly runForMs?: number;
  /** Written to the log when the container starts. */
  readonly stdout?: string;
  readonly stderr?: string;
  /** How often what it writes to stdout is written again while it runs; once only unless given. */
  readonly repeatsEveryMs?: number;
  /** Written to the files of its mounts with these paths in the container, before it exits. */
  readonly files?: Readonly<Record<string, string>>;
  /** StartContainer fails with this text, as when the command isn't in the image. */
  readonly startError?: string;
  /** The kernel's OOM killer ends it: reason `OOMKilled`. */
  readonly oomKilled?: boolean;
  /** Survives the stop signal, so that StopContainer kills it when its timeout is over. */
  readonly ignoresStop?: boolean;
  /** How it ends when it hears the stop signal: of that signal, and at once, unless given. */
  readonly onStop?: {readonly exitCode?: number; readonly afterMs?: number};
}

/** Decides what a container does from its config and command line; undefined = the default. */
export type ResolveBehaviour = (
  config: Message<'ContainerConfig'>,
  argv: readonly string[],
) => ContainerBehaviour | undefined;

/** What ExecSync gives. */
export interface ExecResult {
  readonly stdout?: string;
  readonly stderr?: string;
  readonly exitCode?: number;
  readonly runForMs?: number;
}

/** Decides what a command in a container gives that has run for so long; undefined = the default. */
export type ResolveExec = (
  argv: readonly string[],
  config: Message<'ContainerConfig'>,
  ranForMs: number,
) => ExecResult | undefined;

/**
 * What a shell would do with the simplest commands: `true`, `false`, `exit N`, `echo TEXT`, `sleep SECONDS`, alone
 * or in `sh -c` with `;` and `&&`. Anything else keeps running.
 */
export function defaultBehaviour(argv: readonly string[]): ContainerBehaviour {
  const outcome = runScript(scriptOf(argv));
  if (outcome.stdout === '') delete outcome.stdout;
  return outcome;
}

/** As defaultBehaviour, but a command that isn't understood succeeds: nothing waits for ever for an exec. */
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

/** `sleep infinity`, and what outlasts a Node.js timer, runs until it is stopped. */
function withoutEndlessSleep(outcome: Outcome): Outcome {
  return (outcome.runForMs ?? 0) < 2 ** 31 ? outcome : {stdout: outcome.stdout ?? ''};
}
