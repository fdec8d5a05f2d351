import {constants} from 'node:fs';
import {open, readdir, stat} from 'node:fs/promises';
import {join} from 'node:path';
import type {LoadedManifest} from '../api/load-pods.js';
import {loadPods} from '../api/load-pods.js';
import type {ManifestDocument} from '../api/manifest.js';
import {LARGEST_MANIFEST_BYTES} from '../api/manifest.js';
import type {ManifestIssue} from '../api/manifest-issue.js';
import {PodValidationError} from '../api/manifest-issue.js';
import {ConfigError, isSystemCallError, UsageError} from '../base/errors.js';
import {systemReason} from '../base/files.js';

/** Where `-` reads from and how strictly manifests are read. */
export interface ReadManifestsOptions {
  readonly stdin: AsyncIterable<string | Uint8Array>;
  /** Unknown fields become warnings. */
  readonly lenient?: boolean | undefined;
  readonly signal: AbortSignal;
}

/** The Pods of some manifests, with the API's defaults and valid, and what --lenient let pass. */
export interface ReadManifests {
  readonly pods: readonly ManifestDocument[];
  /** One line each, as `file:line:column: message`. */
  readonly warnings: readonly string[];
}

const STDIN = '-';
const MANIFEST_NAME = /^[^.].*\.(yaml|yml|json)$/;

function cannotRead(file: string, error: unknown): ConfigError {
  return new ConfigError(`reading the manifest "${file}": ${systemReason(error)}`, {cause: error});
}

function tooLarge(file: string): ConfigError {
  return new ConfigError(`"${file}" is larger than ${LARGEST_MANIFEST_BYTES / 1024 / 1024} MiB`);
}

function notAFile(file: string): ConfigError {
  return new ConfigError(`"${file}" is neither a file nor a directory`, {
    hint: 'pipe it in and name it "-" to read from standard input',
  });
}

/** Rejects with the signal's reason; never resolves. The listener goes away with the signal or the race that it lost. */
function untilAborted(signal: AbortSignal, done: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const abort = (): void => {
      reject(signal.reason as Error);
    };
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, {once: true, signal: done});
  });
}

/** Collects bytes as far as a manifest may go. A terminal may never say more: the signal ends the wait. */
async function collect(chunks: AsyncIterable<string | Uint8Array>, signal: AbortSignal): Promise<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  const done = new AbortController();
  const aborted = untilAborted(signal, done.signal);
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for (;;) {
      const next = await Promise.race([iterator.next(), aborted]);
      if (next.done === true) return Buffer.concat(parts);
      const part = typeof next.value === 'string' ? Buffer.from(next.value) : next.value;
      size += part.length;
      if (size > LARGEST_MANIFEST_BYTES) throw tooLarge('stdin');
      parts.push(part);
    }
  } finally {
    done.abort();
  }
}

function decodeUtf8(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder('utf-8', {fatal: true, ignoreBOM: true}).decode(bytes);
  } catch (error) {
    throw new ConfigError(`"${file}" isn't UTF-8 text`, {cause: error, hint: 'convert it to UTF-8'});
  }
}

async function readFileText(file: string, signal: AbortSignal): Promise<string> {
  // Not blocking: a file that has become a FIFO since it was looked at must not hang the command.
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const found = await handle.stat();
    if (!found.isFile()) throw notAFile(file);
    if (found.size > LARGEST_MANIFEST_BYTES) throw tooLarge(file);
    return decodeUtf8(await handle.readFile({signal}), file);
  } finally {
    await handle.close();
  }
}

/** The manifests of a directory in order of name: no subdirectories, no dot files, only the usual endings. */
async function listDirectory(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory);
  const candidates = entries.filter((name) => MANIFEST_NAME.test(name)).sort();
  const files: string[] = [];
  for (const name of candidates) {
    const file = join(directory, name);
    if ((await stat(file)).isFile()) files.push(file);
  }
  if (files.length > 0) return files;
  throw new ConfigError(`no manifests in the directory "${directory}"`, {
    hint: 'their names end in .yaml, .yml or .json; directories below it are not searched',
  });
}

/** The files that a source on the command line stands for. */
async function filesOf(source: string): Promise<readonly string[]> {
  const kind = await stat(source);
  if (kind.isDirectory()) return await listDirectory(source);
  if (kind.isFile()) return [source];
  throw notAFile(source);
}

async function* readTexts(
  sources: readonly string[],
  {stdin, signal}: ReadManifestsOptions,
): AsyncGenerator<{readonly file: string; readonly text: string}> {
  for (const source of sources) {
    if (source === STDIN) {
      yield {file: 'stdin', text: decodeUtf8(await collect(stdin, signal), 'stdin')};
      continue;
    }
    for (const file of await naming(source, () => filesOf(source))) {
      signal.throwIfAborted();
      yield {file, text: await naming(file, () => readFileText(file, signal))};
    }
  }
}

/** Puts the file's name before what the system says about it. */
async function naming<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isSystemCallError(error) ? cannotRead(file, error) : error;
  }
}

/** Two Pods of one name would be one pod that is made and ended in turn. */
function refuseDuplicates(pods: readonly ManifestDocument[]): void {
  const places = new Map<string, ManifestDocument>();
  for (const loaded of pods) {
    const {name = '', namespace = ''} = loaded.pod.metadata;
    const key = `${namespace}/${name}`;
    const other = places.get(key);
    if (other !== undefined) {
      const where = [other, loaded].map(({file, line}) => `${file}:${line}`).join(' and ');
      throw new ConfigError(`the pod "${key}" is defined twice: ${where}`);
    }
    places.set(key, loaded);
  }
}

function describe({file, line, column, message}: ManifestIssue): string {
  return `${file}:${line}:${column}: ${message}`;
}

/**
 * Reads Pods from files, directories (their .yaml, .yml and .json files by name) and, as `-`, standard input; with the
 * API's defaults, and validated.
 *
 * @throws PodValidationError with everything that is wrong in any of the manifests.
 * @throws ConfigError for what can't be read, holds no Pod, or names a Pod twice; UsageError for a second `-`.
 */
export async function readManifests(
  sources: readonly string[],
  options: ReadManifestsOptions,
): Promise<ReadManifests> {
  if (sources.filter((source) => source === STDIN).length > 1) {
    throw new UsageError('"-" is given twice, but standard input can be read once only');
  }
  const manifests: LoadedManifest[] = [];
  for await (const {file, text} of readTexts(sources, options)) {
    manifests.push(loadPods(text, {file, lenient: options.lenient}));
  }
  const issues = manifests.flatMap((manifest) => manifest.issues);
  if (issues.length > 0) throw new PodValidationError(issues);
  const pods = manifests.flatMap((manifest) => manifest.pods);
  refuseDuplicates(pods);
  return {pods, warnings: manifests.flatMap((manifest) => manifest.warnings).map(describe)};
}
