import type {Readable} from 'node:stream';
import {onAbort} from '../base/async/abort-callbacks.js';
import {anySignal} from '../base/async/any-signal.js';
import {createDeadline} from '../base/async/deadline.js';
import {ConfigError} from '../base/errors.js';
import {checkScript, parseStates, type SocketState} from './check-socket.js';
import {probeListener} from './probe-listener.js';
import {RemoteError} from './remote-error.js';
import {SftpClient} from './sftp/sftp-client.js';
import {SshConnection, type SshOptions} from './ssh-connection.js';
import {isSafeHost, type SshEndpoint} from './ssh-endpoint.js';

/** Time for the script that checks sockets, in ms. */
const SCRIPT_TIMEOUT_MS = 10_000;
const MAX_STATES_BYTES = 64 * 1024;
/** Time for the SFTP server to start, in ms. */
const SFTP_TIMEOUT_MS = 15_000;
/** Time in which the end of a connection is noticed after the end of a session on it, in ms. */
const LOSS_DELAY_MS = 2000;

/** A node reached through ssh: sockets, ports and files of it. */
export class RemoteNode {
  readonly #connection: SshConnection;
  readonly #options: SshOptions;
  /** Private sockets by the socket or port of the node that they lead to. */
  readonly #sockets = new Map<string, Promise<string>>();
  #sftp: Promise<SftpClient> | undefined;

  private constructor(connection: SshConnection, options: SshOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  /** Connects to a node. Rejects with RemoteError, SystemError or the signal's reason. */
  static async open(endpoint: SshEndpoint, options: SshOptions): Promise<RemoteNode> {
    return new RemoteNode(await SshConnection.open(endpoint, options), options);
  }

  /** Host of the node, as the user named it. */
  get host(): string {
    return this.#connection.endpoint.host;
  }

  /** Signal that aborts with a RemoteError when the connection is lost. */
  get lost(): AbortSignal {
    return this.#connection.lost;
  }

  /** Returns the path of a private socket that leads to a socket of the node. Rejects with RemoteError. */
  async socketTo(socketPath: string): Promise<string> {
    return await this.#forwarded(socketPath, async () => await this.#connection.forward([{socketPath}]));
  }

  /**
   * Returns the path of a private socket that leads to an address in the node's network. Rejects with RemoteError.
   */
  async socketToAddress(host: string, port: number): Promise<string> {
    if (!isSafeHost(host)) throw this.#connection.error(`invalid host in a streaming URL of the runtime`);
    return await this.#forwarded(
      `${host} ${port}`,
      async () => await this.#connection.forward([{host, port}]),
    );
  }

  /**
   * Returns the first of the socket paths with a listener. A socket that this user may not use counts, so that the error
   * names it. Rejects with ConfigError if there is none, and with RemoteError.
   */
  async findSocket(candidates: readonly string[]): Promise<string> {
    const {clock, signal} = this.#options;
    const locals = await this.#connection.forward(candidates.map((socketPath) => ({socketPath})));
    const answers = await Promise.all(locals.map(async (path) => await probeListener(path, clock, signal)));
    this.lost.throwIfAborted();
    const index = answers.indexOf(true);
    const [found, local] = [candidates[index], locals[index]];
    if (found !== undefined && local !== undefined) {
      this.#sockets.set(found, Promise.resolve(local));
      return found;
    }
    const states = await this.#check(candidates);
    const present = candidates.find((_, at) => /denied|refused|listening/.test(states[at] ?? ''));
    if (present !== undefined) return present;
    throw new ConfigError(
      `no container runtime found on node "${this.host}"; looked for ${candidates.join(', ')}`,
      {
        hint: `add the path of its socket to the endpoint: ssh://${this.host}/path/to/socket`,
      },
    );
  }

  /** Returns the state of a socket of the node; undefined if the node does not say. Rejects when the connection is lost. */
  async checkSocket(path: string): Promise<SocketState | undefined> {
    return (await this.#check([path]))[0];
  }

  /**
   * Runs a script with the node's sh, and resolves with its exit code and the beginning of its output. When the signal aborts, it
   * ends the session and rejects with the signal's reason. Rejects with RemoteError if the connection is lost.
   */
  async run(
    script: string,
    {signal, maxBytes}: {readonly signal: AbortSignal; readonly maxBytes: number},
  ): Promise<{readonly output: string; readonly exitCode: number}> {
    signal.throwIfAborted();
    const session = this.#connection.startSession({command: 'sh'});
    const forget = onAbort(signal, () => {
      session.kill();
    });
    try {
      session.stdin.end(script);
      const output = await readBeginning(session.stdout, maxBytes);
      await session.ended;
      signal.throwIfAborted();
      this.lost.throwIfAborted();
      return {output, exitCode: session.exitCode ?? -1};
    } finally {
      forget();
    }
  }

  /** Returns an error about the node. */
  error(message: string, cause?: unknown): RemoteError {
    return this.#connection.error(message, cause);
  }

  /** Returns a client of the node's files. Rejects with RemoteError if sshd has no SFTP server. */
  async files(): Promise<SftpClient> {
    return await (this.#sftp ??= this.#openSftp());
  }

  /**
   * Waits after the end of a stream until the end of the whole connection would have been noticed, which says more.
   * Rejects with the reason of the loss, or the signal's.
   */
  async awaitLoss(): Promise<void> {
    const {clock, signal} = this.#options;
    using either = anySignal(signal, this.lost);
    await clock.sleep(LOSS_DELAY_MS, either.signal);
  }

  /** Closes the connection. Resolves when nothing is left of it on this machine. */
  async close(): Promise<void> {
    await this.#connection.close();
  }

  async #forwarded(key: string, forward: () => Promise<readonly string[]>): Promise<string> {
    const existing = this.#sockets.get(key);
    if (existing !== undefined) return await existing;
    const opening = forward().then(([path = '']) => path);
    this.#sockets.set(key, opening);
    opening.catch(() => this.#sockets.delete(key));
    return await opening;
  }

  async #check(paths: readonly string[]): Promise<readonly (SocketState | undefined)[]> {
    using limit = createDeadline(this.#options.clock, SCRIPT_TIMEOUT_MS);
    const {signal} = limit;
    try {
      const {output, exitCode} = await this.run(checkScript(paths), {signal, maxBytes: MAX_STATES_BYTES});
      if (exitCode === 0) return parseStates(output);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    await this.awaitLoss();
    return [];
  }

  async #openSftp(): Promise<SftpClient> {
    const session = this.#connection.startSession({subsystem: 'sftp'});
    using limit = createDeadline(this.#options.clock, SFTP_TIMEOUT_MS);
    onAbort(limit.signal, () => {
      session.kill();
    });
    const ended = session.ended.then(async (): Promise<never> => {
      await this.awaitLoss();
      throw new RemoteError(
        `node "${this.host}": cannot read files: ${session.reason() ?? 'the SFTP server has ended'}`,
        {
          hint: 'logs of a remote node need "Subsystem sftp" in its sshd_config, and the SFTP server installed',
        },
      );
    });
    return await SftpClient.open(session, ended);
  }
}

/** Reads a stream to its end, and returns its beginning as text. */
async function readBeginning(stream: Readable, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    if (length < maxBytes) chunks.push(chunk.subarray(0, maxBytes - length));
    length += chunk.length;
  }
  return Buffer.concat(chunks).toString();
}
