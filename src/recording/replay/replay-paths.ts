import {basename, join, normalize} from 'node:path';

/** A path of the replay that must exist before its first call. */
export interface ReplayPath {
  /** Path on the recorded node. */
  readonly recorded: string;
  readonly path: string;
  readonly kind: 'mount' | 'logs';
  /** True if it is a file. */
  readonly isFile: boolean;
}

/** Paths in containers at which a kubelet mounts files. */
const FILES: ReadonlySet<string> = new Set([
  '/etc/hosts',
  '/etc/hostname',
  '/etc/resolv.conf',
  '/dev/termination-log',
]);
/** Path of a kubelet's termination message file. */
const TERMINATION_LOG = /\/containers\/[^/]+\/[0-9a-f]{8}$/;

/**
 * Gives each mounted path and log directory of a recording a path of its own in the directory of the replay. None of them
 * is below another one, so that what a container does in its mounts cannot lead out of that directory.
 */
export class ReplayPaths {
  readonly #directory: string;
  readonly #byRecorded = new Map<string, ReplayPath>();
  readonly #recordedOf = new Map<string, string>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Returns the path in place of the source of a mount. */
  mount(recorded: string, containerPath: string): string {
    const isFile =
      FILES.has(containerPath) || TERMINATION_LOG.test(recorded) || basename(recorded) === 'etc-hosts';
    return this.#pathOf({recorded, kind: 'mount', isFile});
  }

  /** Returns the path in place of a log directory. */
  logs(recorded: string): string {
    return this.#pathOf({recorded, kind: 'logs', isFile: false});
  }

  #pathOf(wanted: Omit<ReplayPath, 'path'>): string {
    const key = `${wanted.kind} ${wanted.recorded}`;
    const known = this.#byRecorded.get(key);
    if (known !== undefined) return known.path;
    const path = join(this.#directory, `${wanted.kind}-${this.#byRecorded.size}`);
    this.#byRecorded.set(key, {...wanted, path});
    this.#recordedOf.set(path, wanted.recorded);
    return path;
  }

  /** All paths so far. */
  get all(): readonly ReplayPath[] {
    return [...this.#byRecorded.values()];
  }

  /** Returns a text in which a path of the replay is replaced by that of the recorded node. */
  toRecorded(text: string): string {
    if (!text.startsWith(`${this.#directory}/`)) return text;
    const end = text.indexOf('/', this.#directory.length + 1);
    const path = end === -1 ? text : text.slice(0, end);
    const recorded = this.#recordedOf.get(path);
    return recorded === undefined ? text : recorded + text.slice(path.length);
  }
}

/** Returns a relative path without steps upwards. */
export function containedPath(path: string): string {
  return normalize(`/${path}`).slice(1);
}
