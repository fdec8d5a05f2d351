import {ArgumentsError, ConflictError} from '../../cli/parsing/usage-errors.js';

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

/** Reports whether a path leads to something that can be read as a file. */
export type IsFile = (path: string) => boolean;

/** Reports whether the argument after an image was read: the command begins with it, and has flags of its own. */
export function endsRunFlags(positionals: readonly string[], isFile: IsFile): boolean {
  const [first = '', ...others] = positionals;
  return others.length > 0 && !isConfig(first, isFile);
}

/**
 * Returns the form of a command line: two config files, or an image with its command. The first argument decides. It is a
 * file if it is `-`, begins with `.` or `/`, ends in .json, .yaml or .yml, or `isFile` holds. Throws UsageError.
 */
export function chooseRunForm({before, after}: RunLine, isFile: IsFile): RunForm {
  const [first = '', ...others] = before;
  if (first === '') throw new ArgumentsError('no image or config files specified');
  const isImage = !isConfig(first, isFile) || (after !== undefined && others.length === 0);
  return isImage
    ? {kind: 'image', image: first, words: [...others, ...(after ?? [])]}
    : chooseFiles([...before, ...(after ?? [])], isFile);
}

/** Reports whether an argument is a config file rather than an image. */
export function isConfig(argument: string, isFile: IsFile): boolean {
  return argument === '-' || /^[./]|\.(json|ya?ml)$/i.test(argument) || isFile(argument);
}

/** Returns the form of arguments of which the first is a file. */
function chooseFiles(words: readonly string[], isFile: IsFile): RunForm {
  const [container = '', pod, surplus] = words;
  const asImage = `for an image of this name, put "--" after it: kcri run ${container} --`;
  if (pod === undefined)
    throw new ArgumentsError(
      `"${container}" is a file: run takes an image, or a container config and a pod config`,
      {hint: `for a Pod manifest, use "kcri runp ${container}" or "kcri sync ${container}"; ${asImage}`},
    );
  if (!isConfig(pod, isFile))
    throw new ArgumentsError(`"${pod}" is not a config file`, {
      hint: `"${container}" is a file, which needs a pod config; ${asImage} ${words.slice(1).join(' ')}`,
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
