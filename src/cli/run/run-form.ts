import {UsageError} from '../../base/errors.js';
import {ArgumentsError, ConflictError} from '../usage-errors.js';

/** Form of a `run` command line: an image with its command, or crictl's config files. */
export type RunForm =
  | {readonly kind: 'image'; readonly image: string; readonly words: readonly string[]}
  | {readonly kind: 'files'; readonly container: string; readonly pod: string};

/** Command line of `run`. */
export interface RunLine {
  /** Arguments before `--`. */
  readonly before: readonly string[];
  /** Arguments after `--`; undefined without it. */
  readonly after: readonly string[] | undefined;
}

/** Splits the arguments at the first `--` of the command line. */
export function splitRunLine(argv: readonly string[], positionals: readonly string[]): RunLine {
  const end = argv.indexOf('--');
  if (end === -1) return {before: positionals, after: undefined};
  const count = argv.length - end - 1;
  return {before: positionals.slice(0, positionals.length - count), after: argv.slice(end + 1)};
}

/**
 * Returns the form of a command line: two config files, or an image. An argument is a file if it is `-`, ends in .json,
 * .yaml or .yml, or `isFile` holds. Throws UsageError.
 */
export function chooseRunForm({before, after}: RunLine, isFile: (path: string) => boolean): RunForm {
  const [first = '', ...others] = before;
  if (first === '') throw new ArgumentsError('no image or config files specified');
  const isConfig = (argument: string): boolean =>
    argument === '-' || /\.(json|ya?ml)$/i.test(argument) || isFile(argument);
  const hasConfig = after === undefined && before.some(isConfig);
  if (hasConfig) return chooseFiles(before, isConfig);
  if (others.length === 0) return {kind: 'image', image: first, words: after ?? []};
  throw new UsageError(`unexpected argument "${others[0] ?? ''}" after the image "${first}"`, {
    hint: `put "--" before the command: kcri run ${first} -- ${others.join(' ')}`,
  });
}

/** Returns the form of arguments of which at least one is a file. */
function chooseFiles(before: readonly string[], isConfig: (argument: string) => boolean): RunForm {
  const [container = '', pod, surplus] = before;
  if (pod === undefined)
    throw new ArgumentsError(
      `"${container}" is a file: run takes an image, or a container config and a pod config`,
      {hint: `for a Pod manifest, use "kcri runp ${container}" or "kcri sync ${container}"`},
    );
  const other = before.find((argument) => !isConfig(argument));
  if (other !== undefined)
    throw new ArgumentsError(`"${other}" is not a config file`, {
      hint: 'run takes a container config and a pod config, or an image and "--" before its command',
    });
  if (surplus !== undefined) throw new ArgumentsError(`unexpected argument "${surplus}"`);
  return {kind: 'files', container, pod};
}

/** Throws ConflictError if a flag of the other form is given. */
export function checkFormFlags(
  kind: RunForm['kind'],
  flags: Readonly<Record<string, unknown>>,
  names: readonly string[],
): void {
  const given = names.find((name) => flags[name] !== undefined && flags[name] !== false);
  if (given === undefined) return;
  throw kind === 'files'
    ? new ConflictError(`--${given} requires an image: config files have their own settings`)
    : new ConflictError(`--${given} is only for config files`, {hint: 'use --pull=missing, always or never'});
}
