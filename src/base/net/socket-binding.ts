import {getBun} from '../bun.js';

/** libuv's number for the end of a stream. */
export const END_OF_FILE = -4095;

/**
 * A socket or pipe of libuv as Node.js wraps it, below node:net. Numbers below 0 are negated system error numbers. The memory
 * of a request and its handle is kept until it is complete.
 */
export interface StreamHandle {
  /**
   * Is called with what was read in the state of the streams: the number of bytes, or an error number. `memory` has the bytes
   * unless they are in a buffer of the user. A returned buffer replaces this one.
   */
  onread: (memory: ArrayBuffer | undefined) => Uint8Array | undefined;
  /** Reads into this buffer from now on. */
  useUserBuffer(buffer: Uint8Array): void;
  writev(request: StreamRequest, chunks: readonly Uint8Array[], areAllBuffers: true): number;
  /** Ends the writing half; not 0 if that is complete or has failed. */
  shutdown(request: StreamRequest): number;
  readStart(): number;
  readStop(): number;
  ref(): void;
  unref(): void;
  close(): void;
}

/** A Unix socket or a pipe. */
export interface PipeHandle extends StreamHandle {
  connect(request: StreamRequest, path: string): number;
  /** Takes over an open descriptor. */
  open(fd: number): number;
}

/** A TCP socket. */
export interface TcpHandle extends StreamHandle {
  connect(request: StreamRequest, address: string, port: number): number;
  connect6(request: StreamRequest, address: string, port: number): number;
  setNoDelay(isImmediate: boolean): number;
}

/** A connection attempt, a write or an end that continues in the background. */
export interface StreamRequest {
  oncomplete: (status: number) => void;
  chunks?: readonly Uint8Array[];
}

type Request = new () => StreamRequest;

/** Node.js' binding `tcp_wrap`, as far as kcri uses it. */
interface TcpBinding {
  readonly TCP: new (type: number) => TcpHandle;
  readonly TCPConnectWrap: Request;
  readonly constants: {readonly SOCKET: number};
}

/** Node.js' bindings `pipe_wrap` and `stream_wrap`, as far as kcri uses them. */
interface PipeBinding {
  readonly Pipe: new (type: number) => PipeHandle;
  readonly PipeConnectWrap: Request;
  readonly WriteWrap: Request;
  readonly ShutdownWrap: Request;
  readonly constants: {readonly SOCKET: number};
  /** Numbers that the last call of any stream left, by the indices below. */
  readonly streamBaseState: Readonly<Record<number, number>>;
  readonly kReadBytesOrError: number;
  readonly kBytesWritten: number;
  readonly kLastWriteWasAsync: number;
}

/** Opens sockets, and tells what their last calls did. */
export interface SocketBinding {
  openPipe(): PipeHandle;
  openTcp(): TcpHandle;
  pipeConnectRequest(): StreamRequest;
  tcpConnectRequest(): StreamRequest;
  writeRequest(): StreamRequest;
  shutdownRequest(): StreamRequest;
  /** Returns the number of bytes of the read that `onread` reports, or an error number. */
  lastRead(): number;
  /** Returns the number of bytes of the write just started, or 0 if it is complete, and not reported. */
  pendingWrite(): number;
}

/** Major versions of Node.js on which the tests of PipeSocket and TcpSocket have passed. */
const TESTED = /^v(20|22|24)\./;

/**
 * Returns the binding to sockets of Node.js, or undefined where it is not known to work: in other versions, if the user
 * asked for warnings about deprecated parts of Node.js, of which it is one (DEP0111), or if Node.js refuses it (its
 * permission model). Bun has none.
 */
export function getSocketBinding(): SocketBinding | undefined {
  const {version, env, execArgv} = process;
  const options = `${env['NODE_OPTIONS'] ?? ''} ${execArgv.join(' ')}`;
  const warns = env['NODE_PENDING_DEPRECATION'] === '1' || options.includes('--pending-deprecation');
  if (!TESTED.test(version) || warns || getBun() !== undefined) return undefined;
  const binding = (name: string): object =>
    (process as unknown as {binding(name: string): object}).binding(name);
  try {
    const pipes = {...binding('pipe_wrap'), ...binding('stream_wrap')} as PipeBinding;
    return wrap(pipes, () => binding('tcp_wrap') as TcpBinding);
  } catch {
    return undefined;
  }
}

/** Wraps the bindings. That of TCP sockets is loaded when one is needed. */
function wrap(
  {Pipe, PipeConnectWrap, WriteWrap, ShutdownWrap, constants, streamBaseState, ...index}: PipeBinding,
  tcp: () => TcpBinding,
): SocketBinding {
  return {
    openPipe: () => new Pipe(constants.SOCKET),
    openTcp: () => {
      const {TCP, constants: types} = tcp();
      return new TCP(types.SOCKET);
    },
    pipeConnectRequest: () => new PipeConnectWrap(),
    tcpConnectRequest: () => new (tcp().TCPConnectWrap)(),
    writeRequest: () => new WriteWrap(),
    shutdownRequest: () => new ShutdownWrap(),
    lastRead: () => streamBaseState[index.kReadBytesOrError] ?? 0,
    pendingWrite: () =>
      streamBaseState[index.kLastWriteWasAsync] === 0 ? 0 : (streamBaseState[index.kBytesWritten] ?? 0),
  };
}
