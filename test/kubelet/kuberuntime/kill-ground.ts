import type {Lifecycle} from '../../../src/api/v1.js';
import {containerId, CriError} from '../../../src/cri/index.js';
import type {LifecycleHook, RunHook} from '../../../src/kubelet/container/lifecycle-hook.js';
import type {KubeRuntimeService} from '../../../src/kubelet/container/services.js';
import type {SyncResult} from '../../../src/kubelet/container/sync-result.js';
import {
  killContainer,
  type KillContext,
  type KillRequest,
} from '../../../src/kubelet/kuberuntime/kill-container.js';
import {ManualClock} from '../../streaming/manual-clock.js';
import {aContainer, aPod} from './builders.js';

/** One that runs something. */
export const preStop: Lifecycle = {preStop: {exec: {command: ['bye']}}};

/** How long a container takes to stop, or why it can't be. */
type Stop = number | Error;

/** A runtime, hooks and a clock that a test moves; `log` is what happened and when, in seconds. */
export class Ground {
  readonly clock = new ManualClock();
  readonly log: string[] = [];
  readonly abort = new AbortController();
  readonly hooks: LifecycleHook[] = [];
  /** Milliseconds by container name: how long its hook takes. */
  readonly hookTakes = new Map<string, number>();
  readonly hookFails = new Set<string>();
  readonly stops = new Map<string, Stop>();

  get context(): KillContext {
    return {
      runtime: {
        stopContainer: async ({containerId: id = '', timeout} = {}, {signal} = {}) => {
          this.#tell(`stop ${id} within ${timeout} s`);
          const how = this.stops.get(id) ?? 0;
          if (how instanceof Error) throw how;
          if (how > 0) await this.clock.sleep(how, signal);
          this.#tell(`${id} ended`);
          return {};
        },
        stopPodSandbox: async ({podSandboxId: id = ''} = {}, {signal} = {}) => {
          this.#tell(`stop ${id}`);
          const how = this.stops.get(id) ?? 0;
          if (how instanceof Error) throw how;
          if (how > 0) await this.clock.sleep(how, signal);
          return {};
        },
      } as Partial<KubeRuntimeService> as KubeRuntimeService,
      events: ({reason, message, fieldPath}) => {
        this.#tell(`${reason} ${message} [${fieldPath}]`);
      },
      clock: this.clock,
      runHook: this.#runHook,
      sandboxIps: ['10.0.0.9'],
      signal: this.abort.signal,
    };
  }

  readonly #runHook: RunHook = async (hook, signal) => {
    const {name} = hook.container;
    this.hooks.push(hook);
    this.#tell(`hook of ${name}`);
    const ms = this.hookTakes.get(name) ?? 0;
    if (ms > 0) await this.clock.sleep(ms, signal);
    return this.hookFails.has(name) ? 'no' : undefined;
  };

  /** Sets down what happens, and when. */
  #tell(what: string): void {
    this.log.push(`${this.clock.now() / 1000}: ${what}`);
  }

  /** Lets so many seconds pass, in steps of a tenth, after what can be done at once. */
  async seconds(count: number): Promise<void> {
    await this.clock.advance(0);
    for (let step = 0; step < count * 10; step++) await this.clock.advance(100);
  }

  /** Begins to kill `main` of the pod with this lifecycle. */
  async start(lifecycle: Lifecycle, request: Partial<KillRequest> = {}): Promise<SyncResult> {
    const pod = aPod({containers: [aContainer({lifecycle})], terminationGracePeriodSeconds: 10});
    return await killContainer(this.context, pod, {id: containerId('c1'), name: 'main', ...request});
  }

  /** Kills it while so many seconds pass. */
  async kill(lifecycle: Lifecycle, seconds: number, request: Partial<KillRequest> = {}): Promise<SyncResult> {
    const killing = this.start(lifecycle, request);
    await this.seconds(seconds);
    return await killing;
  }
}

/** What a runtime says of a container or sandbox that it can't stop. */
export function gone(grpcCode: 'NOT_FOUND' | 'UNKNOWN'): CriError {
  return new CriError({method: 'StopContainer', endpoint: 'x', grpcCode, details: 'c1'});
}
