import {setImmediate as nextTurn, setTimeout as delay} from 'node:timers/promises';
import {CSI_DRIVER, FakeCsiDriver} from '../../fakes/plugins/fake-csi-driver.js';
import type {Plain} from '../../fakes/containerd/containerd-services.js';
import {GrpcStatusError} from '../../fakes/runtime/grpc-status-error.js';
import {isObject} from '../../../src/base/is-object.js';
import {realDuration} from './time-lapse.js';
import {madeId, type VolumeBackend} from './volume-backend.js';
import {SMALL} from './volume-manifests.js';
import type {DriverFault, VolumePoint} from './volume-point.js';

/** Options of {@link FaultyDriver}. */
export interface FaultyDriverOptions {
  readonly sockets: {readonly path: string; readonly registration: string};
  readonly backend: VolumeBackend;
  readonly point: VolumePoint;
  /** Called when a fault happens. */
  readonly onFault: () => void;
  /** Kills the kubelet in a call; resolves when another one has started. */
  readonly kill: () => Promise<void>;
  /** Called before and after each call that changes the node. */
  readonly onCall: (request: Plain, method: string) => void;
}

/** Does the work of a call after `begin` has resolved, which rejects if the driver ends before. */
type Work = (begin: () => Promise<void>) => Promise<object>;
/** Does the work of a call, after a delay in ms. */
type Act = (delayMs?: number) => Promise<object>;

/** Number of consecutive calls with an error. */
const TIMES = 2;
/** In ms of the play's clock: longer than callers wait. */
const LATE_MS = 200_000;
/** Prefix of volumes in operations of the controller, which do not exclude those of the node. */
const CONTROLLER = 'controller';
/** How long a driver that has ended is down, in ms of the play's clock. */
const DOWN_MS = 20_000;
/** Faults in which the driver ends or does not answer, which happen once. */
const ONCE: ReadonlySet<string> = new Set(['hang', 'late', 'slow', 'crash', 'lost']);

/** A CSI driver with a fault, which can end and start again. Its volumes are those of the backend. */
export class FaultyDriver implements AsyncDisposable {
  /** Methods that were called, in order. */
  readonly methods: string[] = [];
  readonly #options: FaultyDriverOptions;
  /** What is being done with volumes, as `volume path`. */
  readonly #pending = new Set<string>();
  #driver: FakeCsiDriver | undefined;
  /** Aborts when the driver ends: what it has not begun by then is not done. */
  #life = new AbortController();
  #restarting: Promise<void> = Promise.resolve();
  #isDisposed = false;

  constructor(options: FaultyDriverOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#driver = await FakeCsiDriver.start({
      ...this.#options.sockets,
      name: CSI_DRIVER,
      answers: {
        NodeGetCapabilities: () =>
          this.#answer('NodeGetCapabilities', async () => ({
            capabilities: [{rpc: {type: 'STAGE_UNSTAGE_VOLUME'}}, {rpc: {type: 'EXPAND_VOLUME'}}],
          })),
        ControllerGetCapabilities: () =>
          this.#answer('ControllerGetCapabilities', async () => ({
            capabilities: [{rpc: {type: 'EXPAND_VOLUME'}}],
          })),
        ControllerExpandVolume: (request) =>
          this.#answer('ControllerExpandVolume', async (begin) => {
            await begin();
            this.#options.backend.grow(String(request['volume_id']), bytesOf(request));
            return {capacity_bytes: bytesOf(request), node_expansion_required: true};
          }),
        CreateVolume: async ({name}) =>
          this.#answer('CreateVolume', async (begin) =>
            this.#whilePending(`${CONTROLLER} ${madeId(String(name))}`, '', async () => {
              await begin();
              const id = await this.#options.backend.make(String(name));
              return {volume: {volume_id: id, capacity_bytes: SMALL}};
            }),
          ),
        DeleteVolume: async ({volume_id: id}) =>
          this.#answer('DeleteVolume', async (begin) =>
            this.#whilePending(`${CONTROLLER} ${String(id)}`, '', async () => {
              await begin();
              await this.#options.backend.delete(String(id));
              return {};
            }),
          ),
        NodeStageVolume: (request) => this.#change('NodeStageVolume', request),
        NodeUnstageVolume: (request) => this.#change('NodeUnstageVolume', request),
        NodePublishVolume: (request) => this.#change('NodePublishVolume', request),
        NodeUnpublishVolume: (request) => this.#change('NodeUnpublishVolume', request),
        NodeExpandVolume: (request) => this.#change('NodeExpandVolume', request),
      },
    });
  }

  /** Ends the driver and starts it again after a while. */
  restart(): void {
    const ending = this.#driver;
    this.#driver = undefined;
    if (ending === undefined) return;
    this.#life.abort();
    this.#life = new AbortController();
    this.#restarting = (async () => {
      await nextTurn();
      await ending[Symbol.asyncDispose]();
      await delay(realDuration(DOWN_MS));
      if (!this.#isDisposed) await this.start();
    })();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    this.#life.abort();
    await this.#restarting;
    await this.#driver?.[Symbol.asyncDispose]();
  }

  async #change(method: string, request: Plain): Promise<object> {
    this.#options.onCall(request, method);
    try {
      return await this.#answer(method, async (begin) => {
        await this.#whilePending(String(request['volume_id']), textOf(request['target_path']), async () => {
          await begin();
          await this.#act(method, request);
        });
        return {};
      });
    } finally {
      this.#options.onCall(request, method);
    }
  }

  /** Answers a call, with the fault if it is its turn. */
  async #answer(method: string, work: Work): Promise<object> {
    const {signal} = this.#life;
    const act: Act = (delayMs) => work(() => delay(delayMs, undefined, {signal}));
    const skip = this.methods.filter((called) => called === method).length;
    this.methods.push(method);
    const {kill, point} = this.#options;
    const {killIn, fault} = point;
    const isKilled = killIn?.method === method && killIn.skip === skip;
    if (isKilled && killIn.stage === 'before') await kill();
    const answer = isHit(fault, method, skip) ? await this.#failWith(fault.name, act) : await act();
    if (isKilled && killIn.stage === 'after') await kill();
    return answer;
  }

  async #failWith(name: DriverFault, act: Act): Promise<object> {
    this.#options.onFault();
    switch (name) {
      case 'error':
        throw new GrpcStatusError('INTERNAL', 'injected fault');
      case 'unavailable':
        throw new GrpcStatusError('UNAVAILABLE', 'injected fault');
      case 'failed':
        await act();
        throw new GrpcStatusError('INTERNAL', 'injected fault after the effect');
      case 'hang':
        return await new Promise(() => undefined);
      case 'late': {
        const answer = await act();
        await delay(realDuration(LATE_MS));
        return answer;
      }
      case 'slow':
        return await act(realDuration(LATE_MS));
      case 'crash':
        this.restart();
        throw new GrpcStatusError('UNAVAILABLE', 'the driver has ended');
      case 'lost':
        await act();
        this.restart();
        throw new GrpcStatusError('UNAVAILABLE', 'the driver has ended');
      case 'duplicate':
        await act();
        return await act();
    }
  }

  async #act(method: string, request: Plain): Promise<void> {
    const {backend} = this.#options;
    const text = (field: string): string => textOf(request[field]);
    const [id, staging, target] = [text('volume_id'), text('staging_target_path'), text('target_path')];
    const capability = request['volume_capability'];
    const isBlock = isObject(capability) && isObject(capability['block']);
    if (method === 'NodeStageVolume') await backend.stage(id, staging, isBlock);
    else if (method === 'NodeUnstageVolume') await backend.unstage(id, staging);
    else if (method === 'NodePublishVolume') await backend.publish(id, target, staging, isBlock);
    else if (method === 'NodeExpandVolume') backend.expand(id, text('volume_path'), bytesOf(request));
    else await backend.unpublish(id, target);
  }

  /** Does work with a volume, unless there is other work with it or the path: drivers answer ABORTED then. */
  async #whilePending<T>(id: string, path: string, work: () => Promise<T>): Promise<T> {
    const key = `${id} ${path}`;
    const isAnyOfVolume = key === `${id} `;
    for (const pending of this.#pending)
      if (pending === key || pending === `${id} ` || (isAnyOfVolume && pending.startsWith(`${id} `)))
        throw new GrpcStatusError('ABORTED', `an operation with volume ${id} is in progress`);
    this.#pending.add(key);
    try {
      return await work();
    } finally {
      this.#pending.delete(key);
    }
  }
}

/** Reports whether a call, after `skip` others of its method, has the fault. */
function isHit(
  fault: VolumePoint['fault'],
  method: string,
  skip: number,
): fault is NonNullable<typeof fault> {
  if (fault?.method !== method) return false;
  return skip >= fault.skip && skip < fault.skip + (ONCE.has(fault.name) ? 1 : TIMES);
}

/** Returns the size that a volume is to have. */
function bytesOf({capacity_range: range}: Plain): number {
  return Number(isObject(range) ? range['required_bytes'] : 0);
}

/** Returns a field of a request; empty if it is missing. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
