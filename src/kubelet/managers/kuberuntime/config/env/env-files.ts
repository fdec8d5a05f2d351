import type {Container} from '../../../../../api/types/v1-pod.js';
import type {FileKeySelector} from '../../../../../api/types/v1-selectors.js';
import {KcriError} from '../../../../../base/errors.js';
import type {EnvFile, MountedVolumes, PodFilesystem} from '../../../../contract/pod-filesystem.js';
import {ContainerConfigError} from '../config-errors.js';

/** Env files of a container, by volume and path (see fileKey). */
export type EnvFiles = ReadonlyMap<string, ReadEnvFile>;

/** A parsed env file. */
type ReadEnvFile =
  | Exclude<EnvFile, {readonly kind: 'text'}>
  | {readonly kind: 'variables'; readonly path: string; readonly variables: EnvVariables};

/** Reads the env files of a container from its pod's volumes, each once. */
export async function readEnvFiles(
  files: Pick<PodFilesystem, 'readEnvFile'>,
  {env = []}: Container,
  volumes: MountedVolumes,
): Promise<EnvFiles> {
  const read = new Map<string, ReadEnvFile>();
  for (const {valueFrom} of env) {
    const selector = valueFrom?.fileKeyRef;
    const root = selector && volumes.get(selector.volumeName)?.hostPath;
    if (selector === undefined || root === undefined || read.has(fileKey(selector))) continue;
    read.set(fileKey(selector), toParsedEnvFile(await files.readEnvFile(root, selector.path)));
  }
  return read;
}

/** Parses the text of an env file; a syntax error is part of the result. */
export function toParsedEnvFile(file: EnvFile): ReadEnvFile {
  if (file.kind !== 'text') return file;
  return {kind: 'variables', path: file.path, variables: parseEnvFile(file.content)};
}

/** Returns all values of env files, for redaction: a value passed from one container to another may be a secret. */
export function envFileValues(files: EnvFiles): readonly string[] {
  return [...files.values()].flatMap((file) =>
    file.kind === 'variables' ? [...file.variables.values.values()] : [],
  );
}

const fileKey = ({volumeName, path}: FileKeySelector): string => `${volumeName}/${path}`;

/**
 * Returns the value of a key in an env file (kubelet makeEnvironmentVariables, FileKeyRef); undefined for an optional
 * key that is missing. As in the kubelet, an empty value counts as missing.
 *
 * @throws ContainerConfigError for a missing key, or a file that is missing or invalid even if the key is optional.
 */
export function fileKeyRefValue(selector: FileKeySelector, files: EnvFiles): string | undefined {
  const {volumeName, key, path, optional = false} = selector;
  const file = files.get(fileKey(selector));
  if (file === undefined)
    throw new ContainerConfigError(`cannot find the volume "${volumeName}" referenced by FileKeyRef`);
  if (file.kind === 'planned') return `<${key} of the file ${path} in the volume ${volumeName}>`;
  if (file.kind === 'unreadable') throw parseError(selector, file.reason);
  const {values, syntaxError} = file.variables;
  const value = values.get(key);
  if (value === undefined && syntaxError !== undefined) throw parseError(selector, syntaxError);
  if (value !== undefined && value !== '') return value;
  if (optional) return undefined;
  throw new ContainerConfigError(
    `environment variable key ${JSON.stringify(key)} not found in file ${JSON.stringify(file.path)}`,
    {hint: `an earlier container must write ${key}='…' to "${path}" of the volume "${volumeName}"`},
  );
}

function parseError({volumeName, path}: FileKeySelector, reason: string): ContainerConfigError {
  return new ContainerConfigError("couldn't parse env file", {
    hint: `"${path}" in the volume "${volumeName}": ${reason}`,
  });
}

class EnvFileError extends KcriError {
  readonly code = 'ENV_FILE';
}

/** Maximum length of a line (bufio.MaxScanTokenSize). */
const MAX_LINE_BYTES = 64 * 1024 - 1;

/** Variables of an env file up to the first syntax error. */
interface EnvVariables {
  /** First value of each name. */
  readonly values: ReadonlyMap<string, string>;
  /** Undefined if the whole file is valid. */
  readonly syntaxError: string | undefined;
}

/**
 * Parses an env file (util/env ParseEnv). Each entry is `NAME='value'`; the value is literal and may span several
 * lines, and a comment may follow. Entries before a syntax error are valid. Messages contain nothing of the file's
 * content.
 */
export function parseEnvFile(content: string): EnvVariables {
  const values = new Map<string, string>();
  try {
    const lines = splitLines(content);
    for (let next = 0; next < lines.length;) {
      const entry = readEntry(lines, next);
      if (entry.name !== undefined && !values.has(entry.name)) values.set(entry.name, entry.value);
      next = entry.next;
    }
  } catch (error) {
    if (error instanceof EnvFileError) return {values, syntaxError: error.message};
    throw error;
  }
  return {values, syntaxError: undefined};
}

function splitLines(content: string): readonly string[] {
  const lines = content.split('\n').map((line) => line.replace(/\r$/, ''));
  const tooLong = lines.findIndex((line) => Buffer.byteLength(line) > MAX_LINE_BYTES);
  if (tooLong !== -1) throw new EnvFileError(`line ${tooLong + 1} is longer than ${MAX_LINE_BYTES} bytes`);
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

/** A variable; a blank line or comment has no name. */
interface Entry {
  readonly name?: string;
  readonly value: string;
  /** Index of the next line. */
  readonly next: number;
}

function readEntry(lines: readonly string[], index: number): Entry {
  const line = (lines[index] ?? '').replace(/^[ \t]+/, '');
  if (line === '' || line.startsWith('#')) return {value: '', next: index + 1};
  const formatError = (problem: string): EnvFileError =>
    new EnvFileError(`invalid environment variable format at line ${index + 1}: ${problem}`);
  const equals = line.indexOf('=');
  if (equals === -1) throw formatError("missing '='");
  const name = line.slice(0, equals);
  if (name.trim() === '') throw formatError('empty variable name');
  if (/[ \t]$/.test(name)) throw formatError("whitespace before '=' is not allowed");
  const rest = line.slice(equals + 1);
  // A shell would parse this as an empty value and a command.
  if (/^[ \t]/.test(rest)) return {name, value: '', next: index + 1};
  if (!rest.startsWith("'")) throw formatError('value must be enclosed in single quotes');
  return {name, ...readQuoted(lines, index, rest.slice(1))};
}

/** Reads to the closing quote. `first` is the rest of line `index` after the opening quote. */
function readQuoted(lines: readonly string[], index: number, first: string): Omit<Entry, 'name'> {
  const value: string[] = [];
  let last = index;
  let line: string | undefined = first;
  for (; line?.includes("'") === false; line = lines[last]) {
    value.push(line);
    last += 1;
  }
  if (line === undefined)
    throw new EnvFileError(
      `invalid environment variable format starting at line ${index + 1}: unclosed single quote`,
    );
  const quote = line.indexOf("'");
  if (!/^[ \t]*(?:#|$)/.test(line.slice(quote + 1)))
    throw new EnvFileError(
      `invalid environment variable format at line ${last + 1}: unexpected content after closing quote`,
    );
  return {value: [...value, line.slice(0, quote)].join('\n'), next: last + 1};
}
