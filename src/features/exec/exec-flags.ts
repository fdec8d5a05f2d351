import {ArgumentsError} from '../../cli/parsing/usage-errors.js';
import {isFiltered, type ContainerFilterValues} from '../containers/filter-flags.js';
import type {SessionFlagValues} from '../sessions/session-flags.js';

/** Values of the flags of `exec`. */
export interface ExecFlags extends SessionFlagValues, ContainerFilterValues {
  /** Container of the named pod. */
  readonly container?: string | undefined;
  /** Label selector of pods. */
  readonly selector?: string | undefined;
  readonly interactive: boolean;
  readonly tty: boolean;
  readonly sync: boolean;
  readonly timeout: number;
  readonly user?: string | undefined;
  readonly env?: readonly string[] | undefined;
  readonly workdir?: string | undefined;
  readonly quiet: boolean;
  readonly 'ignore-errors': boolean;
  readonly parallel: boolean;
}

/** Command line of `exec`. */
export interface ExecWords {
  /** Named container; empty if filters select containers. */
  readonly refs: readonly string[];
  readonly command: readonly string[];
}

/** Separates the container from the command. */
export function splitExecWords(words: readonly string[], flags: ExecFlags): ExecWords {
  const isNamed = !isFiltered(flags) && flags.selector === undefined;
  const refs = isNamed ? words.slice(0, 1) : [];
  return {refs, command: words.slice(refs.length)};
}

/** Throws ArgumentsError without a command. */
export function requireCommand(command: readonly string[]): void {
  if (command.length === 0)
    throw new ArgumentsError('specify a container and a command, or a filter and a command');
}
