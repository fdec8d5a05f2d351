import {isRestartableInit} from '../../api/resource-list.js';
import type {Container, Pod} from '../../api/v1.js';
import type {PodStatus} from '../../api/v1-status.js';
import type {Clock, RandomSource} from '../../base/clock.js';
import type {ContainerId, PodUid} from '../../cri/index.js';
import type {ContainerKind} from '../container/events.js';
import type {KubeletMetrics} from '../container/kubelet-metrics.js';
import {podRef} from '../container/pod-ref.js';
import {
  probeOf,
  type PodProbes,
  type ProbeKind,
  type ProbeOutcome,
  type ProbeResult,
  type ProbeResults,
  type ProbeState,
} from '../container/probe-results.js';
import {ProbeWorker} from './probe-worker.js';
import {readinessOf} from './rounds.js';
import type {ProbeIo, ProbeSubject} from './run-probe.js';

/** What probing is done by. */
export interface ProbeManagerOptions {
  readonly clock: Clock;
  /** Spreads the first probes after a start; one that gives 0 begins at once. */
  readonly random: RandomSource;
  /** Whether a container that exits with that code comes again. */
  readonly comesAgain: (pod: Pod, container: Container, exitCode: number, status: PodStatus) => boolean;
}

/** A pod that is probed, or was until its containers ended. */
interface ProbedPod {
  status: PodStatus;
  readonly workers: ReadonlySet<ProbeWorker>;
}

const KINDS: readonly ProbeKind[] = ['startup', 'readiness', 'liveness'];

/** Probes pods, and keeps what the probes say (prober_manager.go). */
export class ProbeManager {
  readonly #options: ProbeManagerOptions;
  readonly #startedAtMs: number;
  readonly #pods = new Map<PodUid, ProbedPod>();
  readonly #results: Readonly<Record<ProbeKind, Map<ContainerId, ProbeResult>>> = {
    startup: new Map(),
    readiness: new Map(),
    liveness: new Map(),
  };
  readonly #listeners = new Set<(outcome: ProbeOutcome) => void>();

  #metrics: Pick<KubeletMetrics, 'probed'> | undefined;

  constructor(options: ProbeManagerOptions) {
    this.#options = options;
    this.#startedAtMs = options.clock.now();
  }

  /** Newest results, for what has to be done about containers. */
  get results(): ProbeResults {
    return this.#results;
  }

  /** How the probes of a pod stand; none of one that isn't probed. */
  states(uid: PodUid): readonly ProbeState[] {
    return [...(this.#pods.get(uid)?.workers ?? [])].map((worker) => {
      const {id, ...state} = worker.state();
      return {...state, counts: id === undefined ? undefined : this.#results[state.kind].get(id)};
    });
  }

  /** Has `listener` told of every result that changes, until the function that is returned is called. */
  listen(listener: (outcome: ProbeOutcome) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Has every probe told of that is made. */
  count(metrics: Pick<KubeletMetrics, 'probed'>): void {
    this.#metrics = metrics;
  }

  /** Probes by the means of one pod. */
  with(io: Omit<ProbeIo, 'clock' | 'made'>): PodProbes {
    return {
      results: this.#results,
      readinessOf: (instance) =>
        readinessOf(instance, {
          startup: this.#results.startup.get(instance.id),
          readiness: this.#results.readiness.get(instance.id),
        }),
      add: (pod, status) => {
        this.#add(pod, status, {
          ...io,
          clock: this.#options.clock,
          made: (made) => this.#metrics?.probed(made),
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

  /** Ends all probes of a pod; the one that is under way comes to its end. */
  remove(uid: PodUid): void {
    for (const worker of this.#pods.get(uid)?.workers ?? []) worker.stop();
    this.#pods.delete(uid);
  }

  /** As `remove`, without waiting for what is under way. */
  abandon(uid: PodUid): void {
    for (const worker of this.#pods.get(uid)?.workers ?? []) worker.abandon();
    this.#pods.delete(uid);
  }

  /** Ends the probes of all pods but those to be kept (CleanupPods). */
  cleanup(keep: (uid: PodUid) => boolean): void {
    for (const uid of [...this.#pods.keys()]) if (!keep(uid)) this.remove(uid);
  }

  #add(pod: Pod, status: PodStatus, io: ProbeIo): void {
    const {uid} = podRef(pod);
    if (this.#pods.has(uid)) return;
    const subjects = [...subjectsOf(pod)];
    if (subjects.length === 0) return;
    const probed: ProbedPod = {
      status,
      workers: new Set(subjects.map((subject) => this.#worker(subject, io, () => probed.status))),
    };
    this.#pods.set(uid, probed);
    // A worker never rejects.
    for (const worker of probed.workers) void worker.run();
  }

  #worker(subject: ProbeSubject, io: ProbeIo, status: () => PodStatus): ProbeWorker {
    const {pod, container, kind} = subject;
    const {uid} = podRef(pod);
    return new ProbeWorker({
      io,
      subject: {
        ...subject,
        startedAtMs: this.#startedAtMs,
        comesAgain: (exitCode, seen) => this.#options.comesAgain(pod, container, exitCode, seen),
      },
      firstDelayMs: this.#firstDelayMs(subject),
      status,
      keep: (id, result) => {
        this.#keep(uid, kind, id, result);
      },
      forget: (id) => {
        this.#results[kind].delete(id);
      },
    });
  }

  /** Soon after a start, when many pods may be there at once, not all are probed at the same moment. */
  #firstDelayMs({probe}: ProbeSubject): number {
    const {clock, random} = this.#options;
    const periodMs = (probe.periodSeconds ?? 10) * 1000;
    return periodMs > clock.now() - this.#startedAtMs ? Math.floor((random() / 2 ** 32) * periodMs) : 0;
  }

  #keep(uid: PodUid, probe: ProbeKind, id: ContainerId, result: ProbeResult): void {
    const results = this.#results[probe];
    if (results.get(id) === result) return;
    results.set(id, result);
    const status = toldAs(probe, result);
    if (status !== undefined) for (const listener of this.#listeners) listener({uid, id, probe, status});
  }

  /** A container that has become unready, or waits for its first probe, is probed at once when its status is made. */
  #observe(uid: PodUid, status: PodStatus): void {
    const probed = this.#pods.get(uid);
    if (probed === undefined) return;
    const before = probed.status;
    probed.status = status;
    for (const worker of probed.workers) {
      const {kind, container} = worker.subject;
      if (kind === 'readiness' && isNewlyUnready(container, before, status)) worker.trigger();
    }
  }

  /** Of sidecars, which have to serve the others to the end, the probes go on. */
  #stopLivenessAndStartup(pod: Pod): void {
    for (const worker of this.#pods.get(podRef(pod).uid)?.workers ?? []) {
      const {kind, list} = worker.subject;
      if (kind !== 'readiness' && list === 'containers') worker.stop();
      else worker.endsWithPod();
    }
  }
}

function* subjectsOf(pod: Pod): Generator<ProbeSubject> {
  const lists: readonly (readonly [ContainerKind, readonly Container[]])[] = [
    ['containers', pod.spec.containers],
    ['initContainers', (pod.spec.initContainers ?? []).filter(isRestartableInit)],
  ];
  for (const [list, containers] of lists)
    for (const container of containers)
      for (const kind of KINDS) {
        const probe = probeOf(container, kind);
        if (probe !== undefined) yield {pod, container, list, kind, probe};
      }
}

/** What the sync loop is told; that a container lives on needs no sync. */
function toldAs(probe: ProbeKind, result: ProbeResult): ProbeOutcome['status'] | undefined {
  if (probe === 'liveness') return result === 'Failure' ? 'unhealthy' : undefined;
  if (probe === 'readiness') return result === 'Success' ? 'ready' : 'not ready';
  return result === 'Success' ? 'started' : 'unstarted';
}

function isNewlyUnready({name}: Container, before: PodStatus, now: PodStatus): boolean {
  const [old, current] = [statusOf(name, before), statusOf(name, now)];
  if (current?.started !== true || current.ready || current.state?.running === undefined) return false;
  return old?.containerID !== current.containerID || old?.started !== true || old.ready;
}

function statusOf(name: string, {containerStatuses = [], initContainerStatuses = []}: PodStatus) {
  return [...containerStatuses, ...initContainerStatuses].find((status) => status.name === name);
}
