import type {Lifecycle} from '../../../../../src/api/types/v1-pod.js';
import {containerId, CriError} from '../../../../../src/cri/index.js';
import type {LifecycleHook, RunHook} from '../../../../../src/kubelet/contract/lifecycle-hook.js';
import type {KubeRuntimeService} from '../../../../../src/kubelet/contract/kube-services.js';
import type {SyncResult} from '../../../../../src/kubelet/contract/sync-result.js';
import {
  killContainer,
  type KillContext,
  type KillRequest,
} from '../../../../../src/kubelet/managers/kuberuntime/actions/kill-container.js';
import {FakeClock} from '../../../../fakes/fake-clock.js';
import {aContainer, aPod} from '../../../../fakes/a-pod.js';

/** Lifecycle with an exec preStop hook. */
export const preStop: Lifecycle = {preStop: {exec: {command: ['bye']}}};

/** Time that a stop takes in milliseconds, or its error. */
type Stop = number | Error;

/**
 * Fakes of the runtime, hooks and clock for tests of kills; `log` has the recorded calls and events with
 * times in seconds.
 */
export class KillFixture {
  readonly clock = new FakeClock();
  readonly log: string[] = [];
  readonly abort = new AbortController();
  readonly hooks: LifecycleHook[] = [];
  /** Durations of hooks in milliseconds, by container name. */
  readonly hookTakes = new Map<string, number>();
  readonly hookFails = new Set<string>();
  readonly stops = new Map<string, Stop>();

  get context(): KillContext {
    return {
      runtime: {
        stopContainer: async ({containerId: id = '', timeout} = {}, {signal} = {}) => {
          this.#record(`stop ${id} within ${timeout} s`);
          const outcome = this.stops.get(id) ?? 0;
          if (outcome instanceof Error) throw outcome;
          if (outcome > 0) await this.clock.sleep(outcome, signal);
          this.#record(`${id} ended`);
          return {};
        },
        stopPodSandbox: async ({podSandboxId: id = ''} = {}, {signal} = {}) => {
          this.#record(`stop ${id}`);
          const outcome = this.stops.get(id) ?? 0;
          if (outcome instanceof Error) throw outcome;
          if (outcome > 0) await this.clock.sleep(outcome, signal);
          return {};
        },
      } as Partial<KubeRuntimeService> as KubeRuntimeService,
      events: ({reason, message, fieldPath}) => {
        this.#record(`${reason} ${message} [${fieldPath}]`);
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
    this.#record(`hook of ${name}`);
    const ms = this.hookTakes.get(name) ?? 0;
    if (ms > 0) await this.clock.sleep(ms, signal);
    return this.hookFails.has(name) ? 'no' : undefined;
  };

  /** Adds a line with the current time to the log. */
  #record(what: string): void {
    this.log.push(`${this.clock.now() / 1000}: ${what}`);
  }

  /** Advances the clock by this many seconds in steps of 0.1 s. */
  async seconds(count: number): Promise<void> {
    await this.clock.advance(0);
    for (let step = 0; step < count * 10; step++) await this.clock.advance(100);
  }

  /** Starts to kill the container `main` of a pod with this lifecycle. */
  async start(lifecycle: Lifecycle, request: Partial<KillRequest> = {}): Promise<SyncResult> {
    const pod = aPod({containers: [aContainer({lifecycle})], terminationGracePeriodSeconds: 10});
    return await killContainer(this.context, pod, {id: containerId('c1'), name: 'main', ...request});
  }

  /** Kills the container while the clock advances. */
  async kill(lifecycle: Lifecycle, seconds: number, request: Partial<KillRequest> = {}): Promise<SyncResult> {
    const killing = this.start(lifecycle, request);
    await this.seconds(seconds);
    return await killing;
  }
}

/** Creates the error of a container or sandbox that cannot be stopped. */
export function criErrorWithCode(grpcCode: 'NOT_FOUND' | 'UNKNOWN'): CriError {
  return new CriError({method: 'StopContainer', endpoint: 'x', grpcCode, details: 'c1'});
}
