import type {LiveValue} from '../contract/live-value.js';
import {basename, join} from 'node:path';
import {pause} from '../../base/async/pause.js';
import type {Clock} from '../../base/clock.js';
import {forEachLimit} from '../../base/async/for-each-limit.js';
import {isSystemCallError} from '../../base/errors.js';
import {formatPathError, systemErrorMessage} from '../../base/system-error-message.js';
import {ChangedPaths, ALL_PATHS} from './changed-paths.js';
import {InotifyWatch} from './inotify-watch.js';
import {ManifestFiles, type ReadMode} from './manifest-files.js';
import {
  readManifestFile,
  isHidden,
  listManifestPaths,
  statManifestPath,
  type ManifestPathStat,
} from './manifest-path.js';
import type {PreparePod, ReadManifestOptions} from './prepare-manifest.js';
import {createSourceReport, type PodSource, type SourceSink} from './pod-source.js';
import type {Problems} from './problem-deduplicator.js';

/** Quiet period in ms that ends a burst of changes; a file is typically written in several steps. */
const QUIET_MS = 10;
/** Maximum duration of a burst, in ms. */
const MAX_BURST_MS = 100;
/** Time after which an invalid file is considered complete, in ms. */
const SETTLING_MS = 250;
/** Interval at which a missing path is checked, in ms (file_linux.go retryPeriod). */
const RETRY_MS = 1000;
const MAX_CONCURRENT_READS = 8;
/** Symbolic link that is replaced when a mounted ConfigMap changes; all files are links through it. */
const ATOMIC_LINK = '..data';

/** Options of {@link FileSource}. */
export interface FileSourceOptions extends ReadManifestOptions {
  /** Path of a directory or a single manifest file; it may be missing. */
  readonly path: string;
  /** Interval between full lists, in ms (fileCheckFrequency). */
  readonly checkFrequencyMs: LiveValue<number>;
  readonly clock: Clock;
  readonly prepare: PreparePod;
}

/**
 * Source of the pods in a manifest directory or a manifest file (config/file.go). Reads it at the start, on inotify
 * events and periodically.
 *
 * Unlike the kubelet's, it also reads ConfigMaps, Secrets and ServiceAccounts. It reports each problem once instead of
 * on each read, and notices an update of a mounted ConfigMap immediately. It removes the pods of a missing path only if
 * the path is still missing a second later.
 */
export class FileSource implements PodSource {
  readonly name = 'file';
  readonly #changes = new ChangedPaths();
  readonly #options: FileSourceOptions;

  constructor(options: FileSourceOptions) {
    this.#options = {...options, path: options.path.replace(/(?<=.)\/+$/, '')};
  }

  reread(): void {
    this.#changes.add(ALL_PATHS);
  }

  async run(sink: SourceSink, signal: AbortSignal): Promise<void> {
    const follower = new Follower(this.#options, this.#changes, sink, signal);
    try {
      await follower.run();
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      follower.close();
    }
  }
}

interface ReadFilesOptions {
  /** True to report errors immediately: at the start, files are assumed to be complete. */
  readonly settled: boolean;
  /** True to skip files whose metadata did not change since the last two reads. */
  readonly onlyModified: boolean;
  /** Changed names of the directory. */
  readonly names: ChangedNames;
}

type ChangedNames = ReturnType<ChangedPaths['take']>;

/** Single run of a FileSource. */
class Follower {
  readonly #options: FileSourceOptions;
  readonly #changes: ChangedPaths;
  readonly #sink: SourceSink;
  readonly #signal: AbortSignal;
  readonly #files: ManifestFiles;
  #watch: InotifyWatch | undefined;
  #pathStat: ManifestPathStat | undefined;
  /** Problems with the path itself. */
  #problems: Problems = new Map();
  /** Time of the next full list, in ms of the monotonic clock. */
  #nextList = Number.NEGATIVE_INFINITY;
  /** Time of the next read of unsettled files, in ms of the monotonic clock. */
  #nextSettling = Number.POSITIVE_INFINITY;

  constructor(options: FileSourceOptions, changes: ChangedPaths, sink: SourceSink, signal: AbortSignal) {
    this.#options = options;
    this.#changes = changes;
    this.#sink = sink;
    this.#signal = signal;
    const {prepare, acceptsWorkloads} = options;
    this.#files = new ManifestFiles({
      ...{prepare, acceptsWorkloads},
      report: (report) => {
        sink.report(report);
      },
    });
  }

  close(): void {
    this.#watch?.close();
  }

  async run(): Promise<never> {
    for (let names = this.#changes.take(); ; names = await this.#changedNames()) await this.#read(names);
  }

  async #read(names: ChangedNames): Promise<void> {
    const now = this.#options.clock.monotonic();
    if (now >= this.#nextList) await this.#readAll('list', names);
    else if (await this.#mustReadAll(names)) await this.#readAll('change', names);
    else await this.#readChanged(names, now >= this.#nextSettling);
    this.#nextSettling = this.#files.unsettledPaths.length > 0 ? now + SETTLING_MS : Number.POSITIVE_INFINITY;
  }

  /** Waits for the end of a burst of changes, or until the next periodic read is due. */
  async #changedNames(): Promise<ChangedNames> {
    const {clock} = this.#options;
    const ms = Math.min(this.#nextList, this.#nextSettling) - clock.monotonic();
    if (await this.#changes.waitForChange(ms, clock, this.#signal)) await this.#quiet();
    return this.#changes.take();
  }

  async #quiet(): Promise<void> {
    const {clock} = this.#options;
    const end = clock.monotonic() + MAX_BURST_MS;
    let count: number;
    do {
      count = this.#changes.changeCount;
      await pause(clock, QUIET_MS, this.#signal);
    } while (this.#changes.changeCount > count && clock.monotonic() < end);
  }

  /** Reports whether the names are not sufficient to know which files changed. */
  async #mustReadAll(names: ChangedNames): Promise<boolean> {
    if (names.has(ALL_PATHS) || names.has(ATOMIC_LINK)) return true;
    return names.size > 0 && !(await this.#watch?.isWatching());
  }

  async #readAll(mode: ReadMode, names: ChangedNames): Promise<void> {
    const {path, clock, checkFrequencyMs} = this.#options;
    const [previous, current] = [this.#pathStat, await statManifestPath(path)];
    this.#pathStat = current;
    this.#problems = new Map();
    this.#nextList = clock.monotonic() + (current.kind === 'missing' ? RETRY_MS : checkFrequencyMs.current);
    await this.#updateWatch(current);
    if (current.kind === 'directory' || current.kind === 'file')
      await this.#readPath(current, {
        settled: previous === undefined,
        onlyModified: mode === 'list',
        names,
      });
    else if (current.kind === 'unreadable') this.#addProblem(current.error);
    else if (previous !== undefined && previous.kind !== 'missing') return;
    else {
      this.#files.retain(new Set());
      this.#addProblem('path does not exist, ignoring');
    }
    this.#emit(current.kind === 'file' && mode === 'list' ? 'single' : mode);
  }

  async #readPath({kind}: ManifestPathStat, options: ReadFilesOptions): Promise<void> {
    const {path} = this.#options;
    try {
      const paths = kind === 'directory' ? await listManifestPaths(path) : [path];
      await this.#readFiles(paths, options);
      this.#files.retain(new Set(paths));
    } catch (error) {
      this.#signal.throwIfAborted();
      this.#addProblem(formatPathError('open', path, error));
    }
  }

  async #readChanged(names: ChangedNames, includeUnsettled: boolean): Promise<void> {
    const {path} = this.#options;
    const changed =
      this.#pathStat?.kind === 'directory'
        ? [...names.keys()].filter((name) => !isHidden(name)).map((name) => join(path, name))
        : [...names.keys()].filter((name) => name === basename(path)).map(() => path);
    const paths = new Set([...changed, ...(includeUnsettled ? this.#files.unsettledPaths : [])]);
    if (paths.size === 0) return;
    await this.#readFiles([...paths], {settled: false, onlyModified: false, names});
    this.#emit('change');
  }

  async #readFiles(
    paths: readonly string[],
    {settled, onlyModified, names}: ReadFilesOptions,
  ): Promise<void> {
    await forEachLimit(paths, MAX_CONCURRENT_READS, async (path) => {
      const previous = onlyModified ? this.#files.contentOf(path) : undefined;
      const content = await readManifestFile(path, this.#signal, previous);
      this.#files.put(path, content, {isSettled: settled, entryChanges: names.get(basename(path)) ?? 0});
    });
  }

  #emit(mode: ReadMode): void {
    const sets = this.#files.refresh(mode, this.#problems);
    this.#sink.problems?.(this.#files.problems);
    for (const set of sets) this.#sink.set(set);
  }

  /** Watches the directory. Call it before the directory is read, so that no change is missed. */
  async #updateWatch(pathStat: ManifestPathStat): Promise<void> {
    const directory = 'directory' in pathStat ? pathStat.directory : undefined;
    if (directory !== undefined && (await this.#watch?.isWatching(directory))) return;
    this.#watch?.close();
    this.#watch = undefined;
    if (directory === undefined) return;
    try {
      this.#watch = await InotifyWatch.open(directory, this.#changes);
    } catch (error) {
      if (!isSystemCallError(error)) throw error;
      this.#addProblem(`unable to create inotify for path "${directory}": ${systemErrorMessage(error)}`);
    }
  }

  #addProblem(error: string): void {
    const fields = {path: this.#options.path};
    this.#problems.set(error, createSourceReport('file', 'Unable to read config path', {error, fields}));
  }
}
