import type {Container} from '../../api/v1.js';
import type {FileKeySelector} from '../../api/v1-selectors.js';
import {KcriError} from '../../base/errors.js';
import type {EnvFile, MountedVolumes, PodFilesystem} from '../container/pod-filesystem.js';
import {ContainerConfigError} from './config-errors.js';

/** The env files that a container's variables come from, as fileOf names them. */
export type EnvFiles = ReadonlyMap<string, ReadEnvFile>;

/** An env file, its text taken apart: once, however many variables come from it. */
type ReadEnvFile =
  | Exclude<EnvFile, {readonly kind: 'text'}>
  | {readonly kind: 'variables'; readonly path: string; readonly variables: EnvVariables};

/** Reads the env files of a container, from the volumes where other containers have put them. */
export async function readEnvFiles(
  files: Pick<PodFilesystem, 'readEnvFile'>,
  {env = []}: Container,
  volumes: MountedVolumes,
): Promise<EnvFiles> {
  const read = new Map<string, ReadEnvFile>();
  for (const {valueFrom} of env) {
    const selector = valueFrom?.fileKeyRef;
    const root = selector && volumes.get(selector.volumeName)?.hostPath;
    if (selector === undefined || root === undefined || read.has(fileOf(selector))) continue;
    read.set(fileOf(selector), takenApart(await files.readEnvFile(root, selector.path)));
  }
  return read;
}

/** The file with its text taken apart; what is wrong with that is part of it. */
export function takenApart(file: EnvFile): ReadEnvFile {
  if (file.kind !== 'text') return file;
  return {kind: 'variables', path: file.path, variables: parseEnvFile(file.content)};
}

/** All values in them, which nobody is to be shown: what a container keeps in a file for another may be a secret. */
export function envFileTexts(files: EnvFiles): readonly string[] {
  return [...files.values()].flatMap((file) =>
    file.kind === 'variables' ? [...file.variables.values.values()] : [],
  );
}

const fileOf = ({volumeName, path}: FileKeySelector): string => `${volumeName}/${path}`;

/**
 * The value of a key in an env file (kubelet makeEnvironmentVariables, FileKeyRef); undefined for an optional one that
 * isn't there. As in the kubelet an empty value counts as none, and what is wrong with the file is nobody's option.
 *
 * @throws ContainerConfigError
 */
export function fileKeyValue(selector: FileKeySelector, files: EnvFiles): string | undefined {
  const {volumeName, key, path, optional = false} = selector;
  const file = files.get(fileOf(selector));
  if (file === undefined)
    throw new ContainerConfigError(`cannot find the volume "${volumeName}" referenced by FileKeyRef`);
  if (file.kind === 'planned') return `<${key} of the file ${path} in the volume ${volumeName}>`;
  if (file.kind === 'unreadable') throw unparsable(selector, file.reason);
  const {values, fault} = file.variables;
  const value = values.get(key);
  if (value === undefined && fault !== undefined) throw unparsable(selector, fault);
  if (value !== undefined && value !== '') return value;
  if (optional) return undefined;
  throw new ContainerConfigError(
    `environment variable key ${JSON.stringify(key)} not found in file ${JSON.stringify(file.path)}`,
    {hint: `an earlier container has to write ${key}='…' into "${path}" of the volume "${volumeName}"`},
  );
}

function unparsable({volumeName, path}: FileKeySelector, reason: string): ContainerConfigError {
  return new ContainerConfigError("couldn't parse env file", {
    hint: `"${path}" in the volume "${volumeName}": ${reason}`,
  });
}

class EnvFileFault extends KcriError {
  readonly code = 'ENV_FILE';
}

/** Longer lines are refused (bufio.MaxScanTokenSize). */
const LONGEST_LINE = 64 * 1024 - 1;

/** The variables of an env file, up to what can't be read. */
interface EnvVariables {
  /** The first value of each name. */
  readonly values: ReadonlyMap<string, string>;
  /** What is wrong behind them; undefined when the whole file was read. */
  readonly fault: string | undefined;
}

/**
 * Takes an env file apart (util/env ParseEnv). A line is `NAME='value'`, the value as it is between the quotes and
 * perhaps over several lines; a comment may follow. What comes before a fault counts. Messages repeat nothing of the
 * file.
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
    if (error instanceof EnvFileFault) return {values, fault: error.message};
    throw error;
  }
  return {values, fault: undefined};
}

function splitLines(content: string): readonly string[] {
  const lines = content.split('\n').map((line) => line.replace(/\r$/, ''));
  const tooLong = lines.findIndex((line) => Buffer.byteLength(line) > LONGEST_LINE);
  if (tooLong !== -1) throw new EnvFileFault(`line ${tooLong + 1} is longer than ${LONGEST_LINE} bytes`);
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

/** A variable, or a blank line or comment, which has no name. */
interface Entry {
  readonly name?: string;
  readonly value: string;
  /** The index of the line behind it. */
  readonly next: number;
}

function readEntry(lines: readonly string[], index: number): Entry {
  const line = (lines[index] ?? '').replace(/^[ \t]+/, '');
  if (line === '' || line.startsWith('#')) return {value: '', next: index + 1};
  const fault = (problem: string): EnvFileFault =>
    new EnvFileFault(`invalid environment variable format at line ${index + 1}: ${problem}`);
  const equals = line.indexOf('=');
  if (equals === -1) throw fault("missing '='");
  const name = line.slice(0, equals);
  if (name.trim() === '') throw fault('empty variable name');
  if (/[ \t]$/.test(name)) throw fault("whitespace before '=' is not allowed");
  const rest = line.slice(equals + 1);
  // A shell takes this for an empty value and a command.
  if (/^[ \t]/.test(rest)) return {name, value: '', next: index + 1};
  if (!rest.startsWith("'")) throw fault('value must be enclosed in single quotes');
  return {name, ...readQuoted(lines, index, rest.slice(1))};
}

/** Reads to the closing quote, from `first`: what stands behind the opening one on the line `index`. */
function readQuoted(lines: readonly string[], index: number, first: string): Omit<Entry, 'name'> {
  const value: string[] = [];
  let last = index;
  let line: string | undefined = first;
  for (; line?.includes("'") === false; line = lines[last]) {
    value.push(line);
    last += 1;
  }
  if (line === undefined)
    throw new EnvFileFault(
      `invalid environment variable format starting at line ${index + 1}: unclosed single quote`,
    );
  const quote = line.indexOf("'");
  if (!/^[ \t]*(?:#|$)/.test(line.slice(quote + 1)))
    throw new EnvFileFault(
      `invalid environment variable format at line ${last + 1}: unexpected content after closing quote`,
    );
  return {value: [...value, line.slice(0, quote)].join('\n'), next: last + 1};
}
