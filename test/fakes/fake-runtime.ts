import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setImmediate as nextTurn} from 'node:timers/promises';
import {BUILT_AT_NANOS, aContainer, aSandbox, anImage} from './runtime-builders.js';
import {containerHandlers} from './runtime/handlers/container-handlers.js';
import {exitContainer, type ContainerExit} from './runtime/container-lifecycle.js';
import {CallDispatcher, type CallInterceptor, type RecordedCall} from './runtime/call-dispatcher.js';
import {FaultInjector, type FaultScope, type InjectedError} from './runtime/fault-injector.js';
import {imageHandlers} from './runtime/handlers/image-handlers.js';
import {infoHandlers} from './runtime/handlers/info-handlers.js';
import {metricHandlers} from './runtime/handlers/metric-handlers.js';
import type {ContainerRecord, ImageRecord, SandboxRecord} from './runtime/runtime-records.js';
import {GrpcStatusError} from './runtime/grpc-status-error.js';
import {exitSandbox, sandboxHandlers} from './runtime/handlers/sandbox-handlers.js';
import {SocketServer} from './runtime/socket-server.js';
import {FakeRuntimeState, type FakeRuntimeStateOptions} from './runtime/fake-runtime-state.js';
import {statsHandlers} from './runtime/handlers/stats-handlers.js';
import {criServices, type Rpc} from './runtime/cri-messages.js';
import type {FakeContainerd} from './containerd/fake-containerd.js';

export {aContainer, aSandbox, anImage, BUILT_AT_NANOS, BUSYBOX} from './runtime-builders.js';
export type {RecordedCall} from './runtime/call-dispatcher.js';
export {PROFILES, type ProfileName} from './runtime/profiles/profiles.js';

/** Options of a fake runtime. */
export interface FakeRuntimeOptions extends FakeRuntimeStateOptions {
  /** Path of the socket, by default in a new temporary directory. */
  readonly socketPath?: string | undefined;
  /** RPCs that fail with UNIMPLEMENTED, in addition to those of the profile. */
  readonly unimplemented?: readonly Rpc[] | undefined;
  /** Runs in every call. */
  readonly intercept?: CallInterceptor | undefined;
  /** containerd's own services on the same socket; without it they are UNIMPLEMENTED. */
  readonly containerd?: FakeContainerd | undefined;
}

/** Numbers of objects for `fill`. */
export interface FillOptions {
  readonly containers?: number;
  /** Number of pods that the containers are distributed to, by default half the number of containers. */
  readonly pods?: number;
  readonly images?: number;
}

/**
 * A CRI runtime in this process: a real gRPC server on a unix socket that keeps sandboxes, containers and images,
 * rejects what containerd rejects, with its messages, and records every call. It runs no processes: the behavior of a
 * container is given by `behaviour`, or derived from its command line (container-behaviour.ts).
 */
export class FakeRuntime {
  readonly socketPath: string;
  /** Internal state, which tests can read and change. */
  readonly state: FakeRuntimeState;
  readonly #server: SocketServer;
  readonly #faults: FaultInjector;
  readonly #dispatcher: CallDispatcher;
  readonly #directory: string | undefined;

  private constructor(options: FakeRuntimeOptions, socketPath: string, directory: string | undefined) {
    this.socketPath = socketPath;
    this.#directory = directory;
    this.state = new FakeRuntimeState(options);
    this.#faults = new FaultInjector(this.state.clock, () => this.crash());
    this.#dispatcher = new CallDispatcher(
      {
        ...infoHandlers(this.state),
        ...sandboxHandlers(this.state),
        ...containerHandlers(this.state),
        ...imageHandlers(this.state),
        ...statsHandlers(this.state),
        ...metricHandlers(this.state),
      },
      this.#faults,
      options.intercept,
    );
    const implementation = this.#dispatcher.toServiceImplementation();
    this.#server = new SocketServer(socketPath, [
      ...criServices().map((definition) => ({definition, implementation})),
      ...(options.containerd?.services() ?? []),
    ]);
    options.containerd?.connectTo(this.state);
    const {profile} = this.state;
    for (const rpc of new Set([...profile.unimplemented, ...(options.unimplemented ?? [])]))
      this.#faults.add(rpc, {kind: 'error', error: profile.unimplementedError(rpc)}, {});
  }

  /** Starts a runtime, to be disposed of with `await using` or `stop`. Throws EEXIST if the socket path exists. */
  static async start(options: FakeRuntimeOptions = {}): Promise<FakeRuntime> {
    const directory =
      options.socketPath === undefined ? await mkdtemp(join(tmpdir(), 'kcri-fake-')) : undefined;
    const socketPath = options.socketPath ?? join(directory ?? '', 'cri.sock');
    const runtime = new FakeRuntime(options, socketPath, directory);
    await runtime.#server.listen();
    return runtime;
  }

  get endpoint(): string {
    return `unix://${this.socketPath}`;
  }

  /** All calls in the order of their arrival. */
  get calls(): readonly RecordedCall[] {
    return this.#dispatcher.calls;
  }

  callsTo(method: Rpc): RecordedCall[] {
    return this.calls.filter((call) => call.method === method);
  }

  /** Clears the recorded calls. */
  clearCalls(): void {
    this.#dispatcher.calls.length = 0;
  }

  /** Whether it accepts connections: not after a crash. */
  get isRunning(): boolean {
    return this.#server.isRunning;
  }

  /** Number of connections accepted so far, and number of open connections. */
  get connections(): {readonly accepted: number; readonly open: number} {
    return {accepted: this.#server.acceptedConnections, open: this.#server.openConnections};
  }

  get sandboxes(): readonly SandboxRecord[] {
    return [...this.state.sandboxes.values()];
  }

  get containers(): readonly ContainerRecord[] {
    return [...this.state.containers.values()];
  }

  get images(): readonly ImageRecord[] {
    return [...this.state.images.values()];
  }

  /** Makes calls to `rpc` fail with this status. */
  injectError(rpc: Rpc, {code, message, ...scope}: InjectedError): void {
    this.#faults.add(rpc, {kind: 'error', error: new GrpcStatusError(code, message)}, scope);
  }

  /** Delays responses of `rpc` by `ms`. */
  injectDelay(rpc: Rpc, ms: number, scope: FaultScope = {}): void {
    this.#faults.add(rpc, {kind: 'delay', ms}, scope);
  }

  /** Makes calls to `rpc` return these bytes as the response, or as the only message of the stream. */
  injectResponse(rpc: Rpc, bytes: Buffer, scope: FaultScope = {}): void {
    this.#faults.add(rpc, {kind: 'response', bytes}, scope);
  }

  /** Runs `act` in calls to `rpc`, by default once and before their effect. */
  injectAction(rpc: Rpc, act: () => void | Promise<void>, scope: FaultScope = {}): void {
    this.#faults.add(rpc, {kind: 'action', act}, {times: 1, ...scope});
  }

  /** Delivers calls to `rpc` twice; the response is the second one. Messages of a stream are repeated. */
  injectDuplicate(rpc: Rpc, scope: FaultScope = {}): void {
    this.#faults.add(rpc, {kind: 'duplicate'}, scope);
  }

  /** Makes the runtime crash in a call to `rpc`, by default once. */
  injectCrash(rpc: Rpc, scope: FaultScope = {}): void {
    this.#faults.add(rpc, {kind: 'crash'}, {times: 1, ...scope});
  }

  /** Removes all injected errors, delays, crashes and unimplemented RPCs. */
  clearFaults(): void {
    this.#faults.clear();
  }

  /** Crashes like a killed process: calls lose their connection, and the socket file stays. */
  async crash(): Promise<void> {
    // Deferred, since an assertion in Node.js' server fails if it loses its connection while it reads.
    await nextTurn();
    this.#dispatcher.abortCalls();
    await this.#server.dropConnections();
  }

  /** Restarts after a crash with the same state. Running containers kept running. */
  async restart(): Promise<void> {
    await this.#server.dropConnections();
    await this.#server.removeSocketFile();
    await this.#server.listen();
  }

  /** Makes a running container exit. Throws if it does not exist. */
  exitContainer(id: string, exitCode: number, how: Omit<ContainerExit, 'exitCode'> = {}): void {
    exitContainer(this.state, this.state.getContainer(id, `no container "${id}"`), {exitCode, ...how});
  }

  /** Makes a sandbox exit while its containers keep running. Throws if it does not exist. */
  exitSandbox(id: string): void {
    exitSandbox(this.state, this.state.getSandbox(id, `no sandbox "${id}"`));
  }

  /** Ends every event stream regularly, as a stopping runtime does. */
  endEvents(): void {
    this.state.events.end();
  }

  /** Sets a condition of Status, such as `NetworkReady`. */
  setCondition(type: string, status: boolean, why: {reason?: string; message?: string} = {}): void {
    this.state.conditions.set(type, {type, status, ...why});
  }

  /** Adds a pulled image. */
  addImage(image: ImageRecord): void {
    this.state.addImage(image);
  }

  /** Publishes an image for PullImage. */
  publishImage(image: ImageRecord): void {
    this.state.publishImage(image);
  }

  /** Adds thousands of running pods, containers and images with different names and times. */
  fill({containers = 0, pods = Math.ceil(containers / 2), images = 0}: FillOptions): void {
    const sandboxes = numbers(pods).map((n) =>
      aSandbox({name: `pod-${padded(n)}`, ip: this.state.newAddress(), createdAt: secondsAfter(n)}),
    );
    for (const sandbox of sandboxes) this.state.addSandbox(sandbox);
    for (const n of numbers(containers)) {
      const sandbox = sandboxes[n % pods];
      if (sandbox === undefined) throw new RangeError('containers need a pod to be in');
      const name = `container-${padded(Math.floor(n / pods))}`;
      this.state.addContainer(aContainer({sandbox, name, createdAt: secondsAfter(n)}));
    }
    for (const n of numbers(images)) this.addImage(anImage({name: `localhost:5000/image-${padded(n)}:1`}));
  }

  /** Stops the runtime and removes the socket. */
  async stop(): Promise<void> {
    this.state.disposed.abort();
    this.#dispatcher.abortCalls();
    await this.#server.dropConnections();
    await this.#server.removeSocketFile();
    if (this.#directory !== undefined) await rm(this.#directory, {recursive: true, force: true});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

const numbers = (count: number): number[] => Array.from({length: count}, (_, index) => index);
const padded = (n: number): string => String(n).padStart(5, '0');
const secondsAfter = (n: number): bigint => BUILT_AT_NANOS + BigInt(n) * 1_000_000_000n;
