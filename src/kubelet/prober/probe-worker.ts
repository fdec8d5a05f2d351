import type {PodStatus} from '../../api/v1-status.js';
import type {ContainerId} from '../../cri/index.js';
import type {ProbeResult, ProbeState} from '../container/probe-results.js';
import {podRef} from '../container/pod-ref.js';
import {beginRound, endRound, NO_MEMORY, type ProbeMemory, type RoundSubject} from './rounds.js';
import {runProbe, type ProbeIo, type ProbeSubject} from './run-probe.js';

/** How much is kept of what a probe says, in characters. */
const MAX_OUTPUT_LENGTH = 1024;

const COUNTED_AS = {Success: 'successful', Failure: 'failed'} as const;

/** What a worker probes, and for whom. */
export interface ProbeWorkerOptions {
  readonly io: ProbeIo;
  readonly subject: ProbeSubject & RoundSubject;
  readonly firstDelayMs: number;
  /** The pod as it was seen last. */
  readonly status: () => PodStatus;
  readonly keep: (id: ContainerId, result: ProbeResult) => void;
  readonly forget: (id: ContainerId) => void;
}

/**
 * Probes one container in one way, period by period, until the container has ended for good or the worker is stopped
 * (prober/worker.go).
 */
export class ProbeWorker {
  readonly #options: ProbeWorkerOptions;
  #memory: ProbeMemory = NO_MEMORY;
  #isStopped = false;
  #isTriggered = false;
  #podEnds = false;
  #isDue = false;
  #nextAt: number | undefined;
  #last: ProbeState['last'];
  #output = '';
  /** The one wait or probe that is under way. */
  #pause: AbortController | undefined;
  #probing: AbortController | undefined;

  constructor(options: ProbeWorkerOptions) {
    this.#options = options;
  }

  get subject(): ProbeSubject {
    return this.#options.subject;
  }

  /** How the probe stands; what counts is known to who keeps the results. */
  state(): Omit<ProbeState, 'counts'> & {readonly id: ContainerId | undefined} {
    const {container, kind, probe} = this.#options.subject;
    const {id, onHold, last, run: inARow} = this.#memory;
    const {failureThreshold = 3, successThreshold = 1} = probe;
    return {
      id,
      container: container.name,
      kind,
      last: this.#last,
      inARow,
      threshold: last === 'Failure' ? failureThreshold : successThreshold,
      nextAt: this.#nextAt,
      waitsFor: onHold ? 'another instance' : this.#isDue ? undefined : 'its time',
    };
  }

  /** Until the end; never rejects. */
  async run(): Promise<void> {
    const {io, subject, firstDelayMs} = this.#options;
    const periodMs = (subject.probe.periodSeconds ?? 10) * 1000;
    await this.#sleepUntil(io.clock.now() + firstDelayMs);
    let tickAt = io.clock.now() + periodMs;
    while (!this.#isStopped && (await this.#round()))
      // A tick that has passed meanwhile counts once, and the ones after it come as if nothing had been.
      tickAt = await this.#nextTick(tickAt, periodMs);
    if (this.#memory.id !== undefined) this.#options.forget(this.#memory.id);
  }

  /** The pod is being ended: the worker goes on, and expects less. */
  endsWithPod(): void {
    this.#podEnds = true;
  }

  /** No round comes after the one that is under way, and what that one finds counts for nothing. */
  stop(): void {
    this.#isStopped = true;
    this.#pause?.abort();
  }

  /** As `stop`, without waiting for the round that is under way. */
  abandon(): void {
    this.stop();
    this.#probing?.abort();
  }

  /** The next round is due at once, and the ones after it from then on. */
  trigger(): void {
    this.#isTriggered = true;
    this.#pause?.abort();
  }

  /** When the tick after the next one is due. */
  async #nextTick(tickAt: number, periodMs: number): Promise<number> {
    const {clock} = this.#options.io;
    if (!this.#isTriggered) await this.#sleepUntil(tickAt);
    const now = clock.now();
    if (this.#isTriggered) {
      this.#isTriggered = false;
      return now + periodMs;
    }
    return tickAt + Math.max(Math.ceil((now + 1 - tickAt) / periodMs), 1) * periodMs;
  }

  async #sleepUntil(time: number): Promise<void> {
    const {clock} = this.#options.io;
    const ms = time - clock.now();
    if (ms <= 0 || this.#isStopped) return;
    this.#pause = new AbortController();
    this.#nextAt = time;
    await clock.sleep(ms, this.#pause.signal).catch(() => undefined); // woken
    this.#nextAt = undefined;
    this.#pause = undefined;
  }

  /** Whether another round follows. */
  async #round(): Promise<boolean> {
    const {io, subject, status: seen, keep, forget} = this.#options;
    const status = seen();
    const round = beginRound(subject, this.#memory, status, io.clock.now());
    const {id: old} = this.#memory;
    this.#memory = round.memory;
    this.#isDue = round.next === 'probe';
    const {id} = round.memory;
    if (old !== id) this.#last = undefined;
    if (old !== undefined && old !== id) forget(old);
    if (id === undefined) return round.next !== 'end';
    for (const result of round.results) keep(id, result);
    if (round.next !== 'probe') return round.next === 'wait';
    const heard = (output: string): void => {
      this.#output = output.slice(0, MAX_OUTPUT_LENGTH);
    };
    const isEnding = (): boolean => this.#podEnds;
    const result = await this.#probe({id, podIp: status.podIP ?? '', isEnding, heard});
    if (result === undefined || this.#isStopped) return true;
    const {memory, counts} = endRound(subject, this.#memory, result);
    this.#memory = memory;
    if (counts) keep(id, result);
    return true;
  }

  async #probe(instance: Parameters<typeof runProbe>[2]): ReturnType<typeof runProbe> {
    const {io, subject} = this.#options;
    this.#probing = new AbortController();
    const {signal} = this.#probing;
    try {
      const startedAt = io.clock.now();
      const result = await runProbe(io, subject, instance, signal);
      this.#last = {at: io.clock.now(), result: result ?? 'Unknown', output: this.#output};
      io.made?.({
        probe: subject.kind,
        result: result === undefined ? 'unknown' : COUNTED_AS[result],
        durationMs: io.clock.now() - startedAt,
        pod: podRef(subject.pod),
        container: subject.container.name,
      });
      return result;
    } catch (error) {
      if (!signal.aborted) throw error;
      return undefined; // abandoned
    } finally {
      this.#probing = undefined;
    }
  }
}
