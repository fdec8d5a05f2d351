import {runInBackground} from '../../../base/async/background-work.js';
import {sidecarsOf} from '../../../api/pod-containers.js';
import type {Container, Pod} from '../../../api/types/v1-pod.js';
import type {PodStatus} from '../../../api/types/v1-status.js';
import {findByName} from '../../../base/by-name.js';
import type {Clock, RandomSource} from '../../../base/clock.js';
import type {ContainerId, PodUid} from '../../../cri/index.js';
import type {ContainerKind} from '../../contract/pod-event.js';
import type {KubeletMetrics} from '../../contract/kubelet-metrics.js';
import {podRef} from '../../contract/pod-ref.js';
import {
  probeOf,
  type PodProbes,
  type ProbeKind,
  type ProbeUpdate,
  type ProbeResult,
  type ProbeResults,
  type ProbeState,
} from '../../contract/probe-results.js';
import {ProbeWorker} from './probe-worker.js';
import {computeReadiness} from './probe-decision.js';
import type {ProbeServices, ProbeSubject} from './run-probe.js';

/** Options of {@link ProbeManager}. */
export interface ProbeManagerOptions {
  readonly clock: Clock;
  /** Source of the random delays that spread the first probes after the start of the kubelet; 0 for no delay. */
  readonly random: RandomSource;
  /**
   * Age difference, in ms, from which on an instance was started before this process and retains its readiness. 0 for
   * a process that ends before its probes could show that the instance is still ready.
   */
  readonly restartGraceMs: number;
  /** Reports whether a container that exits with the code will be restarted. */
  readonly willRestart: (pod: Pod, container: Container, exitCode: number, status: PodStatus) => boolean;
}

/** Pod with probe workers, some of which may have ended. */
interface ProbedPod {
  status: PodStatus;
  readonly workers: ReadonlySet<ProbeWorker>;
}

const KINDS: readonly ProbeKind[] = ['startup', 'readiness', 'liveness'];

/** Runs probe workers and stores their results (prober_manager.go). */
export class ProbeManager {
  readonly #options: ProbeManagerOptions;
  readonly #startedAtMs: number;
  /** Start, in ms of the monotonic clock. */
  readonly #startedMonotonicMs: number;
  readonly #pods = new Map<PodUid, ProbedPod>();
  readonly #results: Readonly<Record<ProbeKind, Map<ContainerId, ProbeResult>>> = {
    startup: new Map(),
    readiness: new Map(),
    liveness: new Map(),
  };
  readonly #listeners = new Set<(outcome: ProbeUpdate) => void>();

  #metrics: Pick<KubeletMetrics, 'probeCompleted'> | undefined;

  constructor(options: ProbeManagerOptions) {
    this.#options = options;
    this.#startedAtMs = options.clock.now();
    this.#startedMonotonicMs = options.clock.monotonic();
  }

  /** Latest results by container. */
  get results(): ProbeResults {
    return this.#results;
  }

  /** Returns the states of a pod's probes; empty if the pod has none. */
  states(uid: PodUid): readonly ProbeState[] {
    return [...(this.#pods.get(uid)?.workers ?? [])].map((worker) => {
      const {id, ...state} = worker.state();
      return {...state, counts: id === undefined ? undefined : this.#results[state.kind].get(id)};
    });
  }

  /** Calls `listener` for each changed result. Returns a function that unsubscribes. */
  subscribe(listener: (outcome: ProbeUpdate) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Sets the metrics that record each probe. */
  setMetrics(metrics: Pick<KubeletMetrics, 'probeCompleted'>): void {
    this.#metrics = metrics;
  }

  /** Creates the probes of a pod with its services. */
  createPodProbes(io: Omit<ProbeServices, 'clock' | 'onProbe'>): PodProbes {
    return {
      results: this.#results,
      readinessOf: (instance) =>
        computeReadiness(instance, {
          startup: this.#results.startup.get(instance.id),
          readiness: this.#results.readiness.get(instance.id),
        }),
      add: (pod, status) => {
        this.#add(pod, status, {
          ...io,
          clock: this.#options.clock,
          onProbe: (made) => this.#metrics?.probeCompleted(made),
        });
      },
      observe: (pod, status) => {
        this.#observe(podRef(pod).uid, status);
      },
      stopLivenessAndStartup: (pod) => {
        this.#stopLivenessAndStartup(pod);
      },
      remove: (pod) => {
        this.remove(podRef(pod).uid);
      },
    };
  }

  /** Stops all probes of a pod; a running probe finishes (RemovePod). */
  remove(uid: PodUid): void {
    for (const worker of this.#pods.get(uid)?.workers ?? []) worker.stop();
    this.#pods.delete(uid);
  }

  /** Stops all probes of a pod and aborts running ones. */
  abandon(uid: PodUid): void {
    for (const worker of this.#pods.get(uid)?.workers ?? []) worker.abandon();
    this.#pods.delete(uid);
  }

  /** Stops the probes of all pods for which `keep` returns false (CleanupPods). */
  cleanupPods(keep: (uid: PodUid) => boolean): void {
    for (const uid of [...this.#pods.keys()]) if (!keep(uid)) this.remove(uid);
  }

  #add(pod: Pod, status: PodStatus, io: ProbeServices): void {
    const {uid} = podRef(pod);
    if (this.#pods.has(uid)) return;
    const subjects = [...subjectsOf(pod)];
    if (subjects.length === 0) return;
    const probed: ProbedPod = {
      status,
      workers: new Set(subjects.map((subject) => this.#worker(subject, io, () => probed.status))),
    };
    this.#pods.set(uid, probed);
    for (const worker of probed.workers) runInBackground('probe worker', worker.run());
  }

  #worker(subject: ProbeSubject, io: ProbeServices, status: () => PodStatus): ProbeWorker {
    const {pod, container, kind} = subject;
    const {uid} = podRef(pod);
    return new ProbeWorker({
      io,
      subject: {
        ...subject,
        kubeletStartedAtMs: this.#startedAtMs,
        restartGraceMs: this.#options.restartGraceMs,
        willRestart: (exitCode, seen) => this.#options.willRestart(pod, container, exitCode, seen),
      },
      firstDelayMs: this.#firstDelayMs(subject),
      status,
      setResult: (id, result) => {
        this.#keep(uid, kind, id, result);
      },
      removeResult: (id) => {
        this.#results[kind].delete(id);
      },
    });
  }

  /** Returns a random delay soon after the start of the kubelet, so that not all pods are probed simultaneously. */
  #firstDelayMs({probe}: ProbeSubject): number {
    const {clock, random} = this.#options;
    const periodMs = (probe.periodSeconds ?? 10) * 1000;
    return periodMs > clock.monotonic() - this.#startedMonotonicMs
      ? Math.floor((random() / 2 ** 32) * periodMs)
      : 0;
  }

  #keep(uid: PodUid, probe: ProbeKind, id: ContainerId, result: ProbeResult): void {
    const results = this.#results[probe];
    if (results.get(id) === result) return;
    results.set(id, result);
    const status = updateStatusOf(probe, result);
    if (status !== undefined) for (const listener of this.#listeners) listener({uid, id, probe, status});
  }

  /** Updates the status. Triggers the readiness probe of containers that have started and are not ready (UpdatePodStatus). */
  #observe(uid: PodUid, status: PodStatus): void {
    const probed = this.#pods.get(uid);
    if (probed === undefined) return;
    probed.status = status;
    for (const worker of probed.workers) {
      const {kind, container} = worker.subject;
      if (kind === 'readiness' && isUnready(container, status)) worker.trigger();
    }
  }

  /** Stops liveness and startup probes (StopLivenessAndStartup), except those of sidecars, which stop last. */
  #stopLivenessAndStartup(pod: Pod): void {
    for (const worker of this.#pods.get(podRef(pod).uid)?.workers ?? []) {
      const {kind, list} = worker.subject;
      if (kind !== 'readiness' && list === 'containers') worker.stop();
    }
  }
}

function* subjectsOf(pod: Pod): Generator<ProbeSubject> {
  const lists: readonly (readonly [ContainerKind, readonly Container[]])[] = [
    ['containers', pod.spec.containers],
    ['initContainers', sidecarsOf(pod)],
  ];
  for (const [list, containers] of lists)
    for (const container of containers)
      for (const kind of KINDS) {
        const probe = probeOf(container, kind);
        if (probe !== undefined) yield {pod, container, list, kind, probe};
      }
}

/** Returns the update for the sync loop; a liveness success needs none. */
function updateStatusOf(probe: ProbeKind, result: ProbeResult): ProbeUpdate['status'] | undefined {
  if (probe === 'liveness') return result === 'Failure' ? 'unhealthy' : undefined;
  if (probe === 'readiness') return result === 'Success' ? 'ready' : 'not ready';
  return result === 'Success' ? 'started' : 'unstarted';
}

function isUnready(
  {name}: Container,
  {containerStatuses = [], initContainerStatuses = []}: PodStatus,
): boolean {
  const status = findByName(containerStatuses, name) ?? findByName(initContainerStatuses, name);
  return status?.started === true && !status.ready && status.state?.running !== undefined;
}
