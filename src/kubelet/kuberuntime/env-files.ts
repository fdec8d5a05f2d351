import type {Container} from '../../api/v1.js';
import type {FileKeySelector} from '../../api/v1-selectors.js';
import {KcriError} from '../../base/errors.js';
import type {EnvFile, MountedVolumes, PodFilesystem} from '../container/pod-filesystem.js';
import {ContainerConfigError} from './config-errors.js';

/** The env files that a container's variables come from, as fileOf names them. */
export type EnvFiles = ReadonlyMap<string, EnvFile>;

/** Reads the env files of a container, from the volumes where other containers have put them. */
export async function readEnvFiles(
  files: Pick<PodFilesystem, 'readEnvFile'>,
  {env = []}: Container,
  volumes: MountedVolumes,
): Promise<EnvFiles> {
  const read = new Map<string, EnvFile>();
  for (const {valueFrom} of env) {
    const selector = valueFrom?.fileKeyRef;
    const root = selector && volumes.get(selector.volumeName)?.hostPath;
    if (selector !== undefined && root !== undefined)
      read.set(fileOf(selector), await files.readEnvFile(root, selector.path));
  }
  return read;
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
  const value = parsed(selector, file.content);
  if (value !== '') return value;
  if (optional) return undefined;
  throw new ContainerConfigError(
    `environment variable key ${JSON.stringify(key)} not found in file ${JSON.stringify(file.path)}`,
    {hint: `an earlier container has to write ${key}='…' into "${path}" of the volume "${volumeName}"`},
  );
}

function parsed(selector: FileKeySelector, content: string): string {
  try {
    return parseEnvFile(content, selector.key);
  } catch (error) {
    if (error instanceof EnvFileFault) throw unparsable(selector, error.message);
    throw error;
  }
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

/**
 * The first value of the key, empty without one (util/env ParseEnv). A line is `NAME='value'`, the value as it is
 * between the quotes and perhaps over several lines; a comment may follow. Messages repeat nothing of the file.
 *
 * @throws EnvFileFault for what comes before the value and is none of that.
 */
export function parseEnvFile(content: string, key: string): string {
  const lines = splitLines(content);
  let next = 0;
  while (next < lines.length) {
    const entry = readEntry(lines, next);
    if (entry.name === key) return entry.value;
    next = entry.next;
  }
  return '';
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
  return {name, ...readQuoted([rest.slice(1), ...lines.slice(index + 1)], index)};
}

/** Reads to the closing quote, from behind the opening one. */
function readQuoted(lines: readonly string[], index: number): Omit<Entry, 'name'> {
  const last = lines.findIndex((line) => line.includes("'"));
  if (last === -1)
    throw new EnvFileFault(
      `invalid environment variable format starting at line ${index + 1}: unclosed single quote`,
    );
  const line = lines[last] ?? '';
  const quote = line.indexOf("'");
  if (!/^[ \t]*(?:#|$)/.test(line.slice(quote + 1)))
    throw new EnvFileFault(
      `invalid environment variable format at line ${index + last + 1}: unexpected content after closing quote`,
    );
  const value = [...lines.slice(0, last), line.slice(0, quote)].join('\n');
  return {value, next: index + last + 1};
}
