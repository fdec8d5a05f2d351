import type {Fact} from '../fact.js';
import type {DiskFacts, FileFacts, MountFacts} from '../node-snapshot.js';
import type {RemoteProbe} from './remote-probes.js';

/** Reads files of a node. What cannot be read, or has no answer in time, is a fact with the reason. */
export interface FileReader {
  readonly mounts: Fact<readonly MountFacts[]>;
  /** Resolves with the result of a read, or the reason why it failed or did not end in time. */
  fact<T>(read: () => Promise<T>, subject?: string): Promise<Fact<T>>;
  /**
   * As fact, for what only a program on the node can read. Of a remote node it is what `remote` reads; without that, it is
   * unknown.
   */
  onNode<T>(
    read: () => Promise<T>,
    subject: string,
    remote?: (probe: RemoteProbe) => Promise<T>,
  ): Promise<Fact<T>>;
  /** Reads the beginning of a text file. */
  text(path: string, maxBytes?: number): Promise<Fact<string>>;
  /** Lists the names in a directory, sorted. */
  names(path: string): Promise<Fact<readonly string[]>>;
  /** Returns what the system says about a file. */
  file(path: string): Promise<Fact<FileFacts>>;
  /** Returns the mount that a path leads to, through symbolic links. */
  mount(path: string): Promise<Fact<MountFacts>>;
  /** Returns the space of the file system of a path. */
  space(path: string): Promise<DiskFacts['space']>;
}

/** Size of a text that is read by default. */
export const MAX_TEXT_BYTES = 256 * 1024;
