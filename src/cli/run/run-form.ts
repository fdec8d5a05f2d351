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
  const [first = '', second, ...rest] = before;
  if (first === '') throw new ArgumentsError('no image or config files specified');
  const isConfig = (argument: string): boolean =>
    argument === '-' || /\.(json|ya?ml)$/i.test(argument) || isFile(argument);
  if (second === undefined) {
    if (after === undefined && isConfig(first))
      throw new ArgumentsError(
        `"${first}" is a file: run takes an image, or a container config and a pod config`,
        {
          hint: `for a Pod manifest, use "kcri runp ${first}" or "kcri sync ${first}"`,
        },
      );
    return {kind: 'image', image: first, words: after ?? []};
  }
  if (after === undefined && isConfig(first) && isConfig(second)) {
    if (rest.length > 0) throw new ArgumentsError(`unexpected argument "${rest[0] ?? ''}"`);
    return {kind: 'files', container: first, pod: second};
  }
  if (after === undefined && (isConfig(first) || isConfig(second))) {
    const missing = isConfig(first) ? second : first;
    throw new ArgumentsError(`"${missing}" is not a config file`, {
      hint: 'run takes a container config and a pod config, or an image and "--" before its command',
    });
  }
  throw new UsageError(`unexpected argument "${second}" after the image "${first}"`, {
    hint: `put "--" before the command: kcri run ${first} -- ${[second, ...rest].join(' ')}`,
  });
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
