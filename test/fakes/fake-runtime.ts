import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setImmediate as nextTurn} from 'node:timers/promises';
import {BUILT_AT_NANOS, aContainer, aSandbox, anImage} from './runtime-builders.js';
import {containerHandlers} from './runtime/handlers/container-handlers.js';
import {exitContainer, type ContainerExit} from './runtime/container-lifecycle.js';
import {CallDispatcher, type RecordedCall} from './runtime/call-dispatcher.js';
import {FaultInjector, type FaultScope, type InjectedError} from './runtime/fault-injector.js';
import {imageHandlers} from './runtime/handlers/image-handlers.js';
import {infoHandlers} from './runtime/handlers/info-handlers.js';
import {metricHandlers} from './runtime/handlers/metric-handlers.js';
import type {ContainerRecord, ImageRecord, SandboxRecord} from './runtime/runtime-records.js';
import {GrpcStatusError, unimplementedError} from './runtime/grpc-status-error.js';
import {exitSandbox, sandboxHandlers} from './runtime/handlers/sandbox-handlers.js';
import {SocketServer} from './runtime/socket-server.js';
import {FakeRuntimeState, type FakeRuntimeStateOptions} from './runtime/fake-runtime-state.js';
import {statsHandlers} from './runtime/handlers/stats-handlers.js';
import type {Rpc} from './runtime/cri-messages.js';

export {aContainer, aSandbox, anImage, BUILT_AT_NANOS, BUSYBOX} from './runtime-builders.js';
export type {RecordedCall} from './runtime/call-dispatcher.js';

/** How a fake runtime starts. */
export interface FakeRuntimeOptions extends FakeRuntimeStateOptions {
  /** Where it listens; in a new temporary directory unless given. */
  readonly socketPath?: string | undefined;
  /** RPCs that this runtime doesn't have. */
  readonly unimplemented?: readonly Rpc[] | undefined;
}

/** What `fill` makes. */
export interface FillOptions {
  readonly containers?: number;
  /** The pods that the containers are spread over; half as many as containers unless given. */
  readonly pods?: number;
  readonly images?: number;
}

/**
 * A CRI runtime in this process: a real gRPC server on a unix socket that keeps sandboxes, containers and images,
 * refuses what containerd refuses, in its words, and records every call. Nothing really runs: what a container
 * does is told by `behaviour`, or read from its command line (behaviour.ts).
 */
export class FakeRuntime {
  readonly socketPath: string;
  /** What a test may look at and change behind the runtime's back. */
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
    );
    this.#server = new SocketServer(socketPath, this.#dispatcher.toServiceImplementation());
    for (const rpc of options.unimplemented ?? [])
      this.#faults.add(rpc, {kind: 'error', refusal: unimplementedError(rpc)}, {});
  }

  /** Starts one; dispose of it with `await using` or `stop`. Throws EEXIST when the socket path is taken. */
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

  /** Every call so far, in the order of their arrival. */
  get calls(): readonly RecordedCall[] {
    return this.#dispatcher.calls;
  }

  callsTo(method: Rpc): RecordedCall[] {
    return this.calls.filter((call) => call.method === method);
  }

  /** Forgets the calls so far. */
  clearCalls(): void {
    this.#dispatcher.calls.length = 0;
  }

  /** Connections accepted since the start, and open now. */
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

  /** Calls to `rpc` fail with this status. */
  injectError(rpc: Rpc, {code, message, ...scope}: InjectedError): void {
    this.#faults.add(rpc, {kind: 'error', refusal: new GrpcStatusError(code, message)}, scope);
  }

  /** Calls to `rpc` are answered `ms` later. */
  injectDelay(rpc: Rpc, ms: number, scope: FaultScope = {}): void {
    this.#faults.add(rpc, {kind: 'delay', ms}, scope);
  }

  /** A call to `rpc` makes the runtime crash; once, unless `times` says otherwise. */
  injectCrash(rpc: Rpc, scope: FaultScope = {}): void {
    this.#faults.add(rpc, {kind: 'crash'}, {times: 1, ...scope});
  }

  /** Takes back every injected error, delay and crash, and what was started as unimplemented. */
  clearFaults(): void {
    this.#faults.clear();
  }

  /** Dies as if killed: connections are cut in the middle of calls, a dead socket stays behind. */
  async crash(): Promise<void> {
    // In the middle of what it reads at once, Node.js's server must not lose its connection: it asserts.
    await nextTurn();
    this.#dispatcher.abortCalls();
    await this.#server.dropConnections();
  }

  /** Comes back after a crash with the same state; running containers ran on. */
  async restart(): Promise<void> {
    await this.#server.dropConnections();
    await this.#server.removeSocketFile();
    await this.#server.listen();
  }

  /** Ends the process of a running container. Throws when there is no such container. */
  exitContainer(id: string, exitCode: number, how: Omit<ContainerExit, 'exitCode'> = {}): void {
    exitContainer(this.state, this.state.getContainer(id, `no container "${id}"`), {exitCode, ...how});
  }

  /** Ends the process that holds a sandbox's namespaces; its containers go on. Throws when there is no such sandbox. */
  exitSandbox(id: string): void {
    exitSandbox(this.state, this.state.getSandbox(id, `no sandbox "${id}"`));
  }

  /** Ends every stream of events in good order, as a runtime that is stopped does. */
  endEvents(): void {
    this.state.events.end();
  }

  /** Sets a condition of Status, such as `NetworkReady`. */
  setCondition(type: string, status: boolean, why: {reason?: string; message?: string} = {}): void {
    this.state.conditions.set(type, {type, status, ...why});
  }

  /** Adds an image that is pulled already. */
  addImage(image: ImageRecord): void {
    this.state.images.set(image.id, image);
  }

  /** Puts an image where PullImage finds it. */
  publishImage(image: ImageRecord): void {
    this.state.registry.push(image);
  }

  /** Adds running pods, containers and images by the thousand, with names and times that differ. */
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

  /** Ends everything and removes the socket. */
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
