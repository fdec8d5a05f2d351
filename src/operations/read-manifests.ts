import {readdir, stat} from 'node:fs/promises';
import {join} from 'node:path';
import type {Readable} from 'node:stream';
import type {LoadedManifest} from '../api/load-pods.js';
import {loadPods} from '../api/load-pods.js';
import type {DocumentPlace, ManifestDocument, ObjectDocument} from '../api/manifest.js';
import type {ManifestIssue} from '../api/manifest-issue.js';
import {PodValidationError} from '../api/manifest-issue.js';
import type {Pod} from '../api/v1.js';
import type {ApiObject} from '../api/v1-objects.js';
import {ConfigError, isSystemCallError, UsageError} from '../base/errors.js';
import {systemReason} from '../base/system-reason.js';
import {notAFile} from '../base/read-text-file.js';
import {readFileText, readStreamText, type NamedText} from './read-text.js';

/** Where `-` reads from and how strictly manifests are read. */
export interface ReadManifestsOptions {
  readonly stdin: Readable;
  /** Unknown fields become warnings. */
  readonly lenient?: boolean | undefined;
  /** Manifests without any Pod are fine. */
  readonly podless?: boolean | undefined;
  readonly signal: AbortSignal;
}

/** Where manifests are: a file, a directory, `-`, or a text that has been read already. */
export type ManifestSource = string | NamedText;

/** What some manifests hold, with the API's defaults and valid, and what --lenient let pass. */
export interface ReadManifests {
  readonly pods: readonly ManifestDocument[];
  /** What the Pods may refer to. */
  readonly objects: readonly ObjectDocument[];
  /** The files that were read. */
  readonly files: readonly string[];
  /** One line each, as `file:line:column: message`. */
  readonly warnings: readonly string[];
}

const STDIN = '-';
const MANIFEST_NAME = /^[^.].*\.(yaml|yml|json)$/;

function cannotRead(file: string, error: unknown): ConfigError {
  return new ConfigError(`reading the manifest "${file}": ${systemReason(error)}`, {cause: error});
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
  sources: readonly ManifestSource[],
  {stdin, signal}: ReadManifestsOptions,
): AsyncGenerator<NamedText> {
  for (const source of sources) {
    if (typeof source !== 'string') yield source;
    else if (source === STDIN)
      yield {file: 'stdin', text: await naming('stdin', () => readStreamText(stdin, 'stdin', signal))};
    else
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

/** Two Pods of one name would be one pod that is made and ended in turn; of other objects only one can be meant. */
function refuseDuplicates(pods: readonly ManifestDocument[], objects: readonly ObjectDocument[]): void {
  const places = new Map<string, DocumentPlace>();
  const documents = [
    ...pods.map(({pod, ...place}) => ({title: titleOf(pod), place})),
    ...objects.map(({object, ...place}) => ({title: titleOf(object), place})),
  ];
  for (const {title, place} of documents) {
    const other = places.get(title);
    if (other !== undefined) {
      const where = [other, place].map(({file, line}) => `${file}:${line}`).join(' and ');
      throw new ConfigError(`the ${title} is defined twice: ${where}`);
    }
    places.set(title, place);
  }
}

/** `Secret "default/login"`. */
function titleOf({kind, metadata: {name = '', namespace}}: Pod | ApiObject): string {
  const word = kind === 'Pod' ? 'pod' : kind;
  return `${word} "${namespace === undefined ? name : `${namespace}/${name}`}"`;
}

/** What is to be run must be among it. */
function noPods(objects: readonly ObjectDocument[], files: readonly string[]): ConfigError {
  const kinds = [...new Set(objects.map(({object}) => `${object.kind}s`))].join(' and ');
  return new ConfigError(`no Pod in ${files.map((file) => `"${file}"`).join(', ')}, only ${kinds}`, {
    hint: 'they serve Pods that are read together with them: name those manifests or their directory as well',
  });
}

function describe({file, line, column, message}: ManifestIssue): string {
  return `${file}:${line}:${column}: ${message}`;
}

/**
 * Reads Pods and what they refer to from files, directories (their .yaml, .yml and .json files by name) and, as `-`, standard input; with the
 * API's defaults, and validated.
 *
 * @throws PodValidationError with everything that is wrong in any of the manifests.
 * @throws ConfigError for what can't be read, holds no Pod, or defines something twice; UsageError for a second `-`.
 */
export async function readManifests(
  sources: readonly ManifestSource[],
  options: ReadManifestsOptions,
): Promise<ReadManifests> {
  if (sources.filter((source) => source === STDIN).length > 1) {
    throw new UsageError('"-" is given twice, but standard input can be read once only');
  }
  const manifests: LoadedManifest[] = [];
  const files: string[] = [];
  for await (const {file, text} of readTexts(sources, options)) {
    manifests.push(loadPods(text, {file, lenient: options.lenient}));
    files.push(file);
  }
  const issues = manifests.flatMap((manifest) => manifest.issues);
  if (issues.length > 0) throw new PodValidationError(issues);
  const pods = manifests.flatMap((manifest) => manifest.pods);
  const objects = manifests.flatMap((manifest) => manifest.objects);
  if (pods.length === 0 && options.podless !== true) throw noPods(objects, files);
  refuseDuplicates(pods, objects);
  return {pods, objects, files, warnings: manifests.flatMap((manifest) => manifest.warnings).map(describe)};
}
