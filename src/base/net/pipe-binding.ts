/** A Unix socket of libuv as Node.js wraps it, below node:net. Numbers below 0 are negated system error numbers. */
export interface Pipe {
  /** Is called with what was read in the state of the streams: the number of bytes, or an error number. */
  onread: () => void;
  /** Reads into this buffer from now on. */
  useUserBuffer(buffer: Uint8Array): void;
  connect(request: PipeRequest, path: string): number;
  writev(request: PipeRequest, chunks: readonly Uint8Array[], areAllBuffers: true): number;
  readStart(): number;
  readStop(): number;
  ref(): void;
  unref(): void;
  close(): void;
}

/** A connection attempt or a write that continues in the background. */
export interface PipeRequest {
  oncomplete: (status: number) => void;
  chunks?: readonly Uint8Array[];
}

/** Node.js' bindings `pipe_wrap` and `stream_wrap`, as far as kcri uses them. */
interface NodeBinding {
  readonly Pipe: new (type: number) => Pipe;
  readonly PipeConnectWrap: new () => PipeRequest;
  readonly WriteWrap: new () => PipeRequest;
  readonly constants: {readonly SOCKET: number};
  /** Numbers that the last call of any stream left, by the indices below. */
  readonly streamBaseState: Readonly<Record<number, number>>;
  readonly kReadBytesOrError: number;
  readonly kBytesWritten: number;
  readonly kLastWriteWasAsync: number;
}

/** Opens sockets, and tells what their last calls did. */
export interface PipeBinding {
  openPipe(): Pipe;
  connectRequest(): PipeRequest;
  writeRequest(): PipeRequest;
  /** Returns the number of bytes of the read that `onread` reports, or an error number. */
  lastRead(): number;
  /** Returns the number of bytes of the write just started, or 0 if it is complete, and not reported. */
  pendingWrite(): number;
}

/** Major versions of Node.js on which the tests of PipeSocket have passed. */
const TESTED = /^v(20|22|24)\./;

/**
 * Returns the binding to sockets of Node.js, or undefined where it is not known to work: in other versions, if the user
 * asked for warnings about deprecated parts of Node.js, of which it is one (DEP0111), or if Node.js refuses it (its
 * permission model).
 */
export function getPipeBinding(): PipeBinding | undefined {
  const {version, env, execArgv} = process;
  const options = `${env['NODE_OPTIONS'] ?? ''} ${execArgv.join(' ')}`;
  const warns = env['NODE_PENDING_DEPRECATION'] === '1' || options.includes('--pending-deprecation');
  if (!TESTED.test(version) || warns) return undefined;
  const node = process as unknown as {binding(name: string): Partial<NodeBinding>};
  try {
    return wrap({...node.binding('pipe_wrap'), ...node.binding('stream_wrap')} as NodeBinding);
  } catch {
    return undefined;
  }
}

function wrap({
  Pipe,
  PipeConnectWrap,
  WriteWrap,
  constants,
  streamBaseState,
  ...index
}: NodeBinding): PipeBinding {
  return {
    openPipe: () => new Pipe(constants.SOCKET),
    connectRequest: () => new PipeConnectWrap(),
    writeRequest: () => new WriteWrap(),
    lastRead: () => streamBaseState[index.kReadBytesOrError] ?? 0,
    pendingWrite: () =>
      streamBaseState[index.kLastWriteWasAsync] === 0 ? 0 : (streamBaseState[index.kBytesWritten] ?? 0),
  };
}
