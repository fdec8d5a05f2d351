import type {OpenSessionOptions} from '../../operations/exec/open-accepted-session.js';
import type {OutputTarget} from '../../streaming/session/remote-output.js';
import type {RemoteResult, RemoteSession, SessionRequest} from '../../streaming/session/session.js';
import type {
  ConnectionContext,
  DialectContext,
  EnvironmentContext,
  OutputContext,
  ReportContext,
  RuntimeContext,
  SignalContext,
} from '../../cli/command/contexts.js';
import {EXIT} from '../../cli/process/exit-codes.js';
import type {SessionFlagValues} from './session-flags.js';
import {parseTransport, tlsOptions} from './streaming-flags.js';
import {DETACH_KEYS, parseDetachKeys} from './detach-keys.js';
import {isTerminalInput} from '../../cli/terminal/terminal-input.js';

declare module '../../cli/dialect/command-strategies.js' {
  interface CommandStrategies {
    readonly session: SessionStrategy;
  }
}

/** Exit code of a program killed by SIGPIPE; the exit code of the command is unknown. */
export const EXIT_BROKEN_PIPE = 141;

/** Streams of a session besides output. */
export interface SessionStreams {
  readonly stdin: boolean;
  readonly tty: boolean;
}

/** Differences of exec and attach between the dialects. */
export interface SessionStrategy {
  /** Returns the keys that leave a session. Throws UsageError. */
  detachKeys(flags: SessionFlagValues): readonly number[];
  /** Returns the requested streams that are available. */
  availableStreams(services: EnvironmentContext, requested: SessionStreams): SessionStreams;
  /** Returns how to open a session. Throws UsageError. */
  openOptions(
    services: ConnectionContext & EnvironmentContext & SignalContext,
    flags: SessionFlagValues,
    streams: SessionStreams,
  ): OpenSessionOptions;
  /** Reports that the user left the session. */
  reportDetached(services: ReportContext, containerName: string): void;
}

/** Sessions of kcri. */
export const KCRI_SESSION: SessionStrategy = {
  detachKeys: (flags) => parseDetachKeys(flags['detach-keys'] ?? DETACH_KEYS),
  // Without a local terminal, the process does not get one either.
  availableStreams: ({context}, requested) =>
    !requested.tty || !requested.stdin || isTerminalInput(context.stdin)
      ? requested
      : {...requested, tty: false},
  openOptions: (services, flags) => ({
    ...baseOpenOptions(services),
    tls: tlsOptions(flags),
    transport: parseTransport(flags),
  }),
  reportDetached: ({report}, containerName) => {
    report.info(`\nkcri: detached from "${containerName}"`);
  },
};

/** Returns the options of every session. */
export function baseOpenOptions({
  connections,
  context,
  signal,
}: ConnectionContext & EnvironmentContext & SignalContext) {
  const {forward} = connections;
  return {signal, clock: context.clock, env: context.env, forward};
}

/** Options of a session. */
export interface CommandSessionOptions {
  /** Name of the container as the user gave it. */
  readonly containerName: string;
  readonly open: (streams: SessionRequest, options: OpenSessionOptions) => Promise<RemoteSession>;
  readonly flags: SessionFlagValues;
  readonly streams: SessionStreams;
  /** False to transfer only standard input. Default true. */
  readonly takesOutput?: boolean | undefined;
  /** Signal that ends the session. */
  readonly signal?: AbortSignal | undefined;
  /** Prefix of each line of output, so that several sessions can share this process's streams. */
  readonly prefix?: string | undefined;
}

/** Result of a session; `left` means that it was left before its end. */
export type SessionResult = RemoteResult | {readonly kind: 'left'; readonly exitCode: number};

/** Opens a session and connects it to this process's streams until it ends. Rejects with StreamingError. */
export async function runCommandSession(
  services: RuntimeContext & DialectContext & OutputContext,
  options: CommandSessionOptions,
): Promise<SessionResult> {
  try {
    return await runConnectedSession(services, options);
  } catch (error) {
    await services.connections.awaitLoss(error);
    throw error;
  }
}

async function runConnectedSession(
  services: RuntimeContext & DialectContext & OutputContext,
  options: CommandSessionOptions,
): Promise<SessionResult> {
  const {containerName, open, flags, streams: requested, takesOutput = true, prefix} = options;
  const {signal = services.signal} = options;
  const {context, dialect, out, report} = services;
  const strategy = await dialect.strategy('session', KCRI_SESSION);
  const streams = strategy.availableStreams(services, requested);
  const openOptions = {...strategy.openOptions(services, flags, streams), signal};
  const detachKeys = strategy.detachKeys(flags);
  const {runSession} = await import('./run-session.js');
  const session = await open(
    {...streams, stdout: takesOutput, stderr: takesOutput && !streams.tty},
    openOptions,
  );
  if (streams.tty !== requested.tty) report.warn('standard input is not a terminal: ignoring -t');
  if (streams.stdin && !streams.tty && !session.halfClosesStdin)
    report.info(
      'kcri: this runtime cannot signal the end of standard input; a command that reads until the end never exits',
    );
  const targets = takesOutput ? [out.stdout.stream, new LazyStderr(out)] : [];
  const {outputs, finish} = await prefixLines(prefix, targets);
  const end = await runSession(session, context, {
    ...streams,
    detachKeys,
    outputs,
    outputClosed: out.stdout.closed,
    signal,
    onOutputChanged: (reason) => {
      if (services.settings.isDebug)
        report.info(`kcri: the terminal translates the line ends of the output: ${reason}`);
    },
  });
  finish();
  if (end.kind === 'unread') return {kind: 'left', exitCode: EXIT_BROKEN_PIPE};
  if (end.kind !== 'detached') return end;
  strategy.reportDetached(services, containerName);
  return {kind: 'left', exitCode: EXIT.ok};
}

/** Standard error, which is opened for the first output: for a terminal or a socket that loads node:net. */
class LazyStderr implements OutputTarget {
  readonly #out: OutputContext['out'];
  #isOpen = false;

  constructor(out: OutputContext['out']) {
    this.#out = out;
  }

  write(chunk: Uint8Array | string, written: () => void): boolean {
    this.#isOpen ||= chunk.length > 0;
    if (this.#isOpen) return this.#out.stderr.stream.write(chunk, written);
    process.nextTick(written);
    return true;
  }
}

/** Returns the outputs of a session, each line with the prefix if there is one, and how to write an unfinished last line. */
async function prefixLines(prefix: string | undefined, targets: readonly OutputTarget[]) {
  if (prefix === undefined) return {outputs: targets, finish: () => undefined};
  const {PrefixedLines} = await import('../../cli/terminal/prefixed-lines.js');
  const outputs = targets.map((target) => new PrefixedLines(prefix, target));
  const finish = (): void => {
    for (const output of outputs) output.finish();
  };
  return {outputs, finish};
}
