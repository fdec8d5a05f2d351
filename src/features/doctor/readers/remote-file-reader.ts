import {abortable} from '../../../base/async/abortable.js';
import {SystemError} from '../../../base/errors.js';
import type {RemoteNode} from '../../../remote/remote-node.js';
import type {SftpClient} from '../../../remote/sftp/sftp-client.js';
import {createRemoteFiles} from '../../why/snapshot/node-files.js';
import {mapFact, readFact, type Fact} from '../fact.js';
import type {DiskFacts, FileFacts, MountFacts} from '../node-snapshot.js';
import {MAX_TEXT_BYTES, type FileReader} from './file-reader.js';
import {MAX_MOUNT_BYTES, parseMounts, requireMount} from './local-file-reader.js';
import type {RemoteProbe} from './remote-probes.js';

/** Types of files in st_mode. */
const TYPE = 0o170_000;
const KINDS: Readonly<Record<number, FileFacts['kind']>> = {
  0o100_000: 'file',
  0o040_000: 'directory',
  0o140_000: 'socket',
};

/** Reads files of a remote node through ssh. A file system of the node that hangs makes only its own reads unknown. */
export class RemoteFileReader implements FileReader {
  readonly mounts: Fact<readonly MountFacts[]>;
  readonly #node: RemoteNode;
  readonly #client: SftpClient;
  readonly #signal: AbortSignal;

  private constructor(
    {node, client, signal}: {node: RemoteNode; client: SftpClient; signal: AbortSignal},
    mounts: Fact<readonly MountFacts[]>,
  ) {
    this.#node = node;
    this.#client = client;
    this.mounts = mounts;
    this.#signal = signal;
  }

  /** Creates a reader whose reads end when the signal aborts. */
  static async open(node: RemoteNode, signal: AbortSignal): Promise<RemoteFileReader> {
    const client = await node.files();
    const path = '/proc/self/mountinfo';
    const files = createRemoteFiles(async () => await Promise.resolve(client));
    const text = await readFact(async () => await abortable(files.read(path, MAX_MOUNT_BYTES), signal), path);
    return new RemoteFileReader({node, client, signal}, mapFact(text, parseMounts));
  }

  async fact<T>(read: () => Promise<T>, subject = ''): Promise<Fact<T>> {
    return await readFact(async () => await abortable(read(), this.#signal), subject);
  }

  async onNode<T>(
    _read: () => Promise<T>,
    subject: string,
    remote?: (probe: RemoteProbe) => Promise<T>,
  ): Promise<Fact<T>> {
    if (remote === undefined) return {error: `${subject}: only a program on the node can read it`};
    return await this.fact(async () => await remote({node: this.#node, signal: this.#signal}), subject);
  }

  async text(path: string, maxBytes = MAX_TEXT_BYTES): Promise<Fact<string>> {
    return await this.fact(async () => {
      // A server would wait for the writer of a pipe.
      if ((await this.#kindOf(path)) !== 'file') throw new SystemError('it is not a regular file');
      return await createRemoteFiles(async () => await Promise.resolve(this.#client)).read(path, maxBytes);
    }, path);
  }

  async names(path: string): Promise<Fact<readonly string[]>> {
    return await this.fact(async () => (await this.#client.list(path)).toSorted(), path);
  }

  async file(path: string): Promise<Fact<FileFacts>> {
    return await this.fact(async () => {
      const {mode = 0, owner = 0, size = 0, modifiedAt = 0} = await this.#client.stat(path);
      return {
        kind: KINDS[mode & TYPE] ?? 'other',
        mode: mode & 0o7777,
        owner,
        bytes: size,
        modifiedAt: new Date(modifiedAt * 1000).toISOString(),
      };
    }, path);
  }

  async mount(path: string): Promise<Fact<MountFacts>> {
    return await this.fact(async () => requireMount(await this.#client.realpath(path), this.mounts), path);
  }

  async space(path: string): Promise<DiskFacts['space']> {
    return await this.fact(async () => await this.#client.space(path), path);
  }

  async #kindOf(path: string): Promise<FileFacts['kind']> {
    const {mode = 0} = await this.#client.stat(path);
    return KINDS[mode & TYPE] ?? 'other';
  }
}
