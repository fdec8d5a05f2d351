import {basename, join} from 'node:path';
import type {Clock} from '../../base/clock.js';
import {concurrently} from '../../base/concurrently.js';
import {isSystemCallError} from '../../base/errors.js';
import {systemReason} from '../../base/system-reason.js';
import {ChangedNames, EVERYTHING} from './changed-names.js';
import {DirectoryWatch} from './directory-watch.js';
import {ManifestFiles, type Look} from './manifest-files.js';
import {contentAt, goError, isHidden, manifestPaths, placeAt, type Place} from './manifest-path.js';
import type {PreparePod} from './manifest-reading.js';
import {sourceReport, type PodSource, type SourceSink} from './pod-source.js';
import type {Problems} from './told-problems.js';

/** Changes that follow each other as closely belong together: a file is written in several steps. */
const QUIET_MS = 10;
/** So long at most, however many there are. */
const LONGEST_BURST_MS = 100;
/** A file that stays faulty for so long isn't half written. */
const SETTLING_MS = 250;
/** A path that is gone is looked for as often (file_linux.go retryPeriod). */
const RETRY_MS = 1000;
const FILES_AT_ONCE = 8;
/** What is exchanged when a mounted ConfigMap changes: what all the names beside it lead to. */
const ATOMIC_LINK = '..data';

/** Which manifests are followed, and how. */
export interface FileSourceOptions {
  /** A directory, or a single manifest. It need not be there. */
  readonly path: string;
  /** How often everything is read again (fileCheckFrequency). */
  readonly checkFrequencyMs: number;
  readonly clock: Clock;
  readonly prepare: PreparePod;
}

/**
 * The pods of a manifest directory, or of one manifest file (config/file.go): read at once, again when inotify tells
 * of a change, and from time to time.
 *
 * Unlike a kubelet's it takes the ConfigMaps, Secrets and ServiceAccounts of the files too; tells of a fault once and
 * not at every look; sees the exchange of a mounted ConfigMap at once; and takes a path for gone only when it still
 * is a second later.
 */
export class FileSource implements PodSource {
  readonly name = 'file';
  readonly #changes = new ChangedNames();
  readonly #options: FileSourceOptions;

  constructor(options: FileSourceOptions) {
    this.#options = {...options, path: options.path.replace(/(?<=.)\/+$/, '')};
  }

  reread(): void {
    this.#changes.add(EVERYTHING);
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

/** How files are read. */
interface Reading {
  /** Nobody can have begun to write them since kcri runs. */
  readonly settled: boolean;
  /** Not those that look as they did at the last two looks: nobody has told of a change. */
  readonly onlyNew: boolean;
}

/** One run of a FileSource. */
class Follower {
  readonly #options: FileSourceOptions;
  readonly #changes: ChangedNames;
  readonly #sink: SourceSink;
  readonly #signal: AbortSignal;
  readonly #files: ManifestFiles;
  #watch: DirectoryWatch | undefined;
  #place: Place | undefined;
  /** What is wrong with the path as a whole. */
  #problems: Problems = new Map();
  /** When everything is read again, in ms since the epoch. */
  #nextList = Number.NEGATIVE_INFINITY;
  /** When suspicious files are looked at again. */
  #nextSettling = Number.POSITIVE_INFINITY;

  constructor(options: FileSourceOptions, changes: ChangedNames, sink: SourceSink, signal: AbortSignal) {
    this.#options = options;
    this.#changes = changes;
    this.#sink = sink;
    this.#signal = signal;
    this.#files = new ManifestFiles(options.prepare, (report) => {
      sink.report(report);
    });
  }

  close(): void {
    this.#watch?.close();
  }

  async run(): Promise<never> {
    for (;;) {
      const names = await this.#changedNames();
      const now = this.#options.clock.now();
      if (now >= this.#nextList) await this.#lookAtAll('list');
      else if (await this.#isAllMeant(names)) await this.#lookAtAll('change');
      else await this.#lookAtSome(names, now >= this.#nextSettling);
      this.#nextSettling = this.#files.suspects.length > 0 ? now + SETTLING_MS : Number.POSITIVE_INFINITY;
    }
  }

  /** Waits until something has changed, and is quiet again, or until it is time to look anyway. */
  async #changedNames(): Promise<ReadonlySet<string>> {
    const {clock} = this.#options;
    const ms = Math.min(this.#nextList, this.#nextSettling) - clock.now();
    if (ms <= 0) return this.#changes.take();
    if (await this.#changes.within(ms, clock, this.#signal)) await this.#quiet();
    return this.#changes.take();
  }

  async #quiet(): Promise<void> {
    const {clock} = this.#options;
    const end = clock.now() + LONGEST_BURST_MS;
    let count: number;
    do {
      count = this.#changes.count;
      await clock.sleep(QUIET_MS, this.#signal);
    } while (this.#changes.count > count && clock.now() < end);
  }

  /** True when names alone don't say what has changed. */
  async #isAllMeant(names: ReadonlySet<string>): Promise<boolean> {
    if (names.has(EVERYTHING) || names.has(ATOMIC_LINK)) return true;
    return names.size > 0 && !(await this.#watch?.isGood());
  }

  async #lookAtAll(look: Look): Promise<void> {
    const {path, clock, checkFrequencyMs} = this.#options;
    const [before, place] = [this.#place, await placeAt(path)];
    this.#place = place;
    this.#problems = new Map();
    this.#nextList = clock.now() + (place.kind === 'missing' ? RETRY_MS : checkFrequencyMs);
    await this.#follow(place);
    if (place.kind === 'directory' || place.kind === 'file')
      await this.#readAll(place, {settled: before === undefined, onlyNew: look === 'list'});
    else if (place.kind === 'unreadable') this.#addProblem(place.error);
    else if (before !== undefined && before.kind !== 'missing') return;
    else {
      this.#files.keepOnly(new Set());
      this.#addProblem('path does not exist, ignoring');
    }
    this.#emit(place.kind === 'file' && look === 'list' ? 'single' : look);
  }

  async #readAll({kind}: Place, reading: Reading): Promise<void> {
    const {path} = this.#options;
    try {
      const paths = kind === 'directory' ? await manifestPaths(path) : [path];
      await this.#read(paths, reading);
      this.#files.keepOnly(new Set(paths));
    } catch (error) {
      this.#signal.throwIfAborted();
      this.#addProblem(goError('open', path, error));
    }
  }

  async #lookAtSome(names: ReadonlySet<string>, settles: boolean): Promise<void> {
    const {path} = this.#options;
    const own =
      this.#place?.kind === 'directory'
        ? [...names].filter((name) => !isHidden(name)).map((name) => join(path, name))
        : [...names].filter((name) => name === basename(path)).map(() => path);
    const paths = new Set([...own, ...(settles ? this.#files.suspects : [])]);
    if (paths.size === 0) return;
    await this.#read([...paths], {settled: false, onlyNew: false});
    this.#emit('change');
  }

  async #read(paths: readonly string[], {settled, onlyNew}: Reading): Promise<void> {
    await concurrently(paths, FILES_AT_ONCE, async (path) => {
      const before = onlyNew ? this.#files.contentOf(path) : undefined;
      this.#files.put(path, await contentAt(path, this.#signal, before), settled);
    });
  }

  #emit(look: Look): void {
    const set = this.#files.look(look, this.#problems);
    if (set !== undefined) this.#sink.set(set);
  }

  /** Puts the directory under inotify, before it is read: no change may go unseen. */
  async #follow(place: Place): Promise<void> {
    const directory = 'directory' in place ? place.directory : undefined;
    if (directory !== undefined && (await this.#watch?.isGood(directory))) return;
    this.#watch?.close();
    this.#watch = undefined;
    if (directory === undefined) return;
    try {
      this.#watch = await DirectoryWatch.open(directory, this.#changes);
    } catch (error) {
      if (!isSystemCallError(error)) throw error;
      this.#addProblem(`unable to create inotify for path "${directory}": ${systemReason(error)}`);
    }
  }

  #addProblem(error: string): void {
    const fields = {path: this.#options.path};
    this.#problems.set(error, sourceReport('file', 'Unable to read config path', {error, fields}));
  }
}
