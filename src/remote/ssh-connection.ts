import {randomBytes} from 'node:crypto';
import {join} from 'node:path';
import {onAbort} from '../base/async/abort-callbacks.js';
import {anySignal} from '../base/async/any-signal.js';
import {createDeadline} from '../base/async/deadline.js';
import type {Clock} from '../base/clock.js';
import {createPrivateDirectory, type PrivateDirectory} from './private-directory.js';
import {RemoteError} from './remote-error.js';
import {
  forwardArguments,
  masterArguments,
  sessionArguments,
  tryCommand,
  type ForwardTarget,
} from './ssh-arguments.js';
import type {SshEndpoint} from './ssh-endpoint.js';
import {printable, SshProcess} from './ssh-process.js';

/** Options of a connection through ssh. */
export interface SshOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** True if a person at a terminal can answer ssh's questions. */
  readonly interactive: boolean;
  /** Time to connect, in ms; answers to questions are not limited. */
  readonly connectTimeoutMs: number;
  /** Called with requests of ssh that appear on standard error, such as to touch a security key. */
  readonly onRequest: (line: string) => void;
}

/** Time for ssh to end after SIGTERM, in ms. */
const END_TIMEOUT_MS = 2000;
/** Time for this process to notice the Ctrl-C that has ended ssh, in ms. */
const INTERRUPT_DELAY_MS = 500;
/** Time for a local request to the connection, in ms. */
const CONTROL_TIMEOUT_MS = 10_000;
const REQUEST = /touch|user presence|security key/i;
/** Longest text before the first answer of a node, such as the output of a login script. */
const LONGEST_GREETING = 1024 * 1024;

/**
 * One connection to a node through the system's ssh, which everything else shares: forwardings to sockets and ports of
 * the node, and sessions. All its sockets are in a private directory; it opens no TCP port.
 */
export class SshConnection {
  readonly endpoint: SshEndpoint;
  readonly #options: SshOptions;
  readonly #directory: PrivateDirectory;
  readonly #master: SshProcess;
  readonly #sessions = new Set<SshProcess>();
  readonly #lost = new AbortController();
  #sockets = 0;
  #closing = false;

  private constructor(
    endpoint: SshEndpoint,
    options: SshOptions,
    {directory, master}: {readonly directory: PrivateDirectory; readonly master: SshProcess},
  ) {
    this.endpoint = endpoint;
    this.#options = options;
    this.#directory = directory;
    this.#master = master;
    master.ended.then(() => this.#handleEnd()).catch(() => undefined); // interrupted by Ctrl-C
  }

  /** Connects to a node. Rejects with RemoteError, SystemError or the signal's reason; then nothing is left. */
  static async open(endpoint: SshEndpoint, options: SshOptions): Promise<SshConnection> {
    const {env, interactive, connectTimeoutMs, onRequest, signal} = options;
    signal.throwIfAborted();
    const directory = await createPrivateDirectory(env['TMPDIR'] ?? '');
    const controlPath = join(directory.path, CONTROL);
    const args = masterArguments(endpoint, {controlPath, batch: !interactive, connectTimeoutMs});
    const master = new SshProcess(args, {
      env,
      // A terminal is needed for questions; ssh then receives every Ctrl-C too.
      detached: !interactive,
      onMessage: (line) => {
        if (interactive && REQUEST.test(line)) onRequest(line);
      },
    });
    try {
      await untilEchoed(endpoint, master, options);
      return new SshConnection(endpoint, options, {directory, master});
    } catch (error) {
      await end(master, options.clock);
      directory[Symbol.dispose]();
      throw error;
    }
  }

  /** Signal that aborts with a RemoteError when the connection is lost. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Opens private sockets that lead to the targets, and returns their paths. Rejects with RemoteError. */
  async forward(targets: readonly ForwardTarget[]): Promise<readonly string[]> {
    this.lost.throwIfAborted();
    const forwards = targets.map((target) => ({
      local: join(this.#directory.path, String(this.#sockets++)),
      target,
    }));
    const {clock, env} = this.#options;
    const request = new SshProcess(forwardArguments(this.#controlPath, forwards), {env, detached: true});
    request.stdin.end();
    request.stdout.resume();
    using limit = createDeadline(clock, CONTROL_TIMEOUT_MS);
    onAbort(limit.signal, () => {
      request.kill('SIGKILL');
    });
    await request.ended;
    this.lost.throwIfAborted();
    if (request.exitCode !== 0)
      throw this.error(`cannot forward a socket: ${request.reason() ?? 'ssh refused'}`);
    return forwards.map(({local}) => local);
  }

  /** Starts a session: a subsystem of sshd, or a command of one plain word. */
  startSession(session: {readonly subsystem: string} | {readonly command: string}): SshProcess {
    this.lost.throwIfAborted();
    const args = sessionArguments(this.#controlPath, session);
    const started = new SshProcess(args, {env: this.#options.env, detached: true});
    this.#sessions.add(started);
    const remove = (): void => void this.#sessions.delete(started);
    started.ended.then(remove, remove);
    return started;
  }

  /** Returns an error about the node. */
  error(text: string, cause?: unknown): RemoteError {
    return new RemoteError(`node "${this.endpoint.host}": ${text}`, {cause, hint: tryHint(this.endpoint)});
  }

  /** Closes the connection and everything on it. Resolves when its processes have ended and its sockets are removed. */
  async close(): Promise<void> {
    this.#closing = true;
    const {clock} = this.#options;
    await Promise.all(
      [...this.#sessions, this.#master].map(async (process) => {
        await end(process, clock);
      }),
    );
    this.#directory[Symbol.dispose]();
  }

  get #controlPath(): string {
    return join(this.#directory.path, CONTROL);
  }

  async #handleEnd(): Promise<void> {
    if (this.#closing) return;
    await awaitInterrupt(this.#options);
    const reason = this.#master.reason();
    const text = 'the ssh connection was lost';
    this.#lost.abort(this.error(reason === undefined ? text : `${text}: ${reason}`));
  }
}

/** Name of the socket by which other ssh processes use the connection. */
const CONTROL = 'control';

/** Waits until the node echoes a random line, which proves that the connection works in both directions. */
async function untilEchoed(
  endpoint: SshEndpoint,
  master: SshProcess,
  {clock, interactive, connectTimeoutMs, signal}: SshOptions,
): Promise<void> {
  const mark = `kcri-${randomBytes(12).toString('hex')}`;
  const {host} = endpoint;
  const failed = (reason: string): RemoteError =>
    new RemoteError(`cannot connect to "${host}" through ssh: ${reason}`, {hint: tryHint(endpoint)});
  using limit = createDeadline(clock, interactive ? undefined : connectTimeoutMs, () =>
    failed(`no answer within ${connectTimeoutMs / 1000}s`),
  );
  using either = anySignal(signal, limit.signal);
  const stopped = either.signal;
  let text = '';
  const echoed = new Promise<void>((resolve, reject) => {
    const onData = (chunk: Buffer): void => {
      text += chunk.toString('latin1');
      if (text.includes(mark)) {
        master.stdout.off('data', onData).resume();
        resolve();
      } else if (text.length > LONGEST_GREETING)
        reject(failed('its login script writes too much to standard output'));
    };
    master.stdout.on('data', onData);
    onAbort(stopped, () => {
      reject(stopped.reason as Error);
    });
  });
  master.stdin.write(`${mark}\n`);
  const ended = master.ended.then(async () => {
    await awaitInterrupt({clock, interactive, signal});
    // A login shell such as nologin explains itself on standard output.
    const said = printable(text.trimEnd().split('\n').at(-1) ?? '');
    throw failed(master.reason() ?? (said || `ssh exited with ${master.exitCode ?? 'a signal'}`));
  });
  await Promise.race([echoed, ended]);
}

/** Waits for the signal if Ctrl-C on a shared terminal may have ended ssh. Rejects with its reason. */
async function awaitInterrupt({
  clock,
  interactive,
  signal,
}: Pick<SshOptions, 'clock' | 'interactive' | 'signal'>): Promise<void> {
  if (interactive) await clock.sleep(INTERRUPT_DELAY_MS, signal);
}

async function end(process: SshProcess, clock: Clock): Promise<void> {
  process.kill();
  using limit = createDeadline(clock, END_TIMEOUT_MS);
  onAbort(limit.signal, () => {
    process.kill('SIGKILL');
  });
  await process.ended.catch(() => undefined);
}

function tryHint(endpoint: SshEndpoint): string {
  return `try "${tryCommand(endpoint)}"`;
}
