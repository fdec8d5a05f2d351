import {timestampOf} from '../../../base/clock.js';
import {runInBackground} from '../../../base/async/background-work.js';
import type {PodStatus} from '../../../api/types/v1-status.js';
import {toPauseMs} from '../../../base/async/pause.js';
import type {ContainerId} from '../../../cri/index.js';
import type {ProbeResult, ProbeState} from '../../contract/probe-results.js';
import {podRef} from '../../contract/pod-ref.js';
import {
  decideProbe,
  recordProbeResult,
  INITIAL_WORKER_STATE,
  type ProbeWorkerState,
  type ProbeDecisionSubject,
} from './probe-decision.js';
import {runProbe, type ProbeServices, type ProbeSubject} from './run-probe.js';

/** Maximum number of characters of a probe's output that are stored. */
const MAX_OUTPUT_LENGTH = 1024;

const COUNTED_AS = {Success: 'successful', Failure: 'failed'} as const;

/** Options of {@link ProbeWorker}. */
export interface ProbeWorkerOptions {
  readonly io: ProbeServices;
  readonly subject: ProbeSubject & ProbeDecisionSubject;
  readonly firstDelayMs: number;
  /** Returns the latest status of the pod. */
  readonly status: () => PodStatus;
  readonly setResult: (id: ContainerId, result: ProbeResult) => void;
  readonly removeResult: (id: ContainerId) => void;
}

/**
 * Runs one probe of a container periodically until the container will not be restarted or the worker is stopped
 * (prober/worker.go).
 */
export class ProbeWorker {
  readonly #options: ProbeWorkerOptions;
  #memory: ProbeWorkerState = INITIAL_WORKER_STATE;
  #isStopped = false;
  #isTriggered = false;
  #isDue = false;
  #nextAt: number | undefined;
  #last: ProbeState['last'];
  #output = '';
  /** Abort controllers of the current wait and the current probe. */
  #pause: AbortController | undefined;
  #probing: AbortController | undefined;

  constructor(options: ProbeWorkerOptions) {
    this.#options = options;
  }

  get subject(): ProbeSubject {
    return this.#options.subject;
  }

  /** Returns the state of the probe; the result that counts is stored by the manager. */
  state(): Omit<ProbeState, 'counts'> & {readonly id: ContainerId | undefined} {
    const {container, kind, probe} = this.#options.subject;
    const {id, onHold, lastResult, resultRun: inARow} = this.#memory;
    const {clock} = this.#options.io;
    const {failureThreshold = 3, successThreshold = 1} = probe;
    return {
      id,
      container: container.name,
      kind,
      last: this.#last,
      inARow,
      threshold: lastResult === 'Failure' ? failureThreshold : successThreshold,
      nextAt: this.#nextAt === undefined ? undefined : timestampOf(clock, this.#nextAt),
      waitsFor: onHold ? 'another instance' : this.#isDue ? undefined : 'its time',
    };
  }

  /** Probes until the worker ends. Never rejects. */
  async run(): Promise<void> {
    const {io, subject, firstDelayMs} = this.#options;
    const periodMs = toPauseMs((subject.probe.periodSeconds ?? 10) * 1000);
    await this.#sleepUntil(io.clock.monotonic() + firstDelayMs);
    let tickAt = io.clock.monotonic() + periodMs;
    while (!this.#isStopped && (await this.#round()))
      // Missed ticks count as one, and later ticks retain their schedule.
      tickAt = await this.#nextTick(tickAt, periodMs);
    if (this.#memory.id !== undefined) this.#options.removeResult(this.#memory.id);
  }

  /** Stops the worker; the result of a running probe is ignored. */
  stop(): void {
    this.#isStopped = true;
    this.#pause?.abort();
  }

  /** Stops the worker and aborts a running probe. */
  abandon(): void {
    this.stop();
    this.#probing?.abort();
  }

  /** Probes immediately and restarts the period. */
  trigger(): void {
    this.#isTriggered = true;
    this.#pause?.abort();
  }

  /** Waits for the tick and returns the time of the following one. */
  async #nextTick(tickAt: number, periodMs: number): Promise<number> {
    const {clock} = this.#options.io;
    if (!this.#isTriggered) await this.#sleepUntil(tickAt);
    const now = clock.monotonic();
    if (this.#isTriggered) {
      this.#isTriggered = false;
      return now + periodMs;
    }
    return tickAt + Math.max(Math.ceil((now + 1 - tickAt) / periodMs), 1) * periodMs;
  }

  async #sleepUntil(time: number): Promise<void> {
    const {clock} = this.#options.io;
    const ms = time - clock.monotonic();
    if (ms <= 0 || this.#isStopped) return;
    this.#pause = new AbortController();
    this.#nextAt = time;
    await clock.sleep(ms, this.#pause.signal).catch(() => undefined); // woken
    this.#nextAt = undefined;
    this.#pause = undefined;
  }

  /** Probes if due. Resolves with false if the worker ends. */
  async #round(): Promise<boolean> {
    const {io, subject, status: seen, setResult, removeResult} = this.#options;
    const status = seen();
    const round = decideProbe(subject, this.#memory, status, io.clock.now());
    const {id: old} = this.#memory;
    this.#memory = round.state;
    this.#isDue = round.next === 'probe';
    const {id} = round.state;
    if (old !== id) this.#last = undefined;
    if (old !== undefined && old !== id) removeResult(old);
    if (id === undefined) return round.next !== 'end';
    for (const result of round.results) setResult(id, result);
    if (round.next !== 'probe') return round.next === 'wait';
    const setOutput = (output: string): void => {
      this.#output = output.slice(0, MAX_OUTPUT_LENGTH);
    };
    const result = await this.#probe({id, podIp: status.podIP ?? '', onOutput: setOutput});
    if (result === undefined || this.#isStopped) return true;
    const {memory, counts} = recordProbeResult(subject, this.#memory, result);
    this.#memory = memory;
    if (counts) setResult(id, result);
    return true;
  }

  async #probe(instance: Parameters<typeof runProbe>[2]): ReturnType<typeof runProbe> {
    const {io, subject} = this.#options;
    this.#probing = new AbortController();
    const {signal} = this.#probing;
    try {
      const startedAt = io.clock.monotonic();
      const result = await runProbe(io, subject, instance, signal);
      this.#last = {at: io.clock.now(), result: result ?? 'Unknown', output: this.#output};
      io.onProbe?.({
        probe: subject.kind,
        result: result === undefined ? 'unknown' : COUNTED_AS[result],
        durationMs: io.clock.monotonic() - startedAt,
        pod: podRef(subject.pod),
        container: subject.container.name,
      });
      return result;
    } catch (error) {
      // After a programming error the probe goes on: otherwise, its last result would remain.
      if (!signal.aborted)
        runInBackground(
          'probe worker',
          Promise.reject(error instanceof Error ? error : new Error(String(error))),
        );
      return undefined; // abandoned, or without a result
    } finally {
      this.#probing = undefined;
    }
  }
}
