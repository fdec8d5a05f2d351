import {anySignal} from '../../../base/async/any-signal.js';
import {runInBackground} from '../../../base/async/background-work.js';
import type {Clock} from '../../../base/clock.js';
import type {UiNode} from '../protocol.js';
import {changeSince, LiveStream, type LiveTexts} from './live-stream.js';
import type {UiSampler, UiSnapshot} from './ui-sampler.js';

/** Share of a core that an open page may take. */
const MAX_LOAD = 0.01;
/** Longest pause between two samples, in ms. */
const MAX_PAUSE_MS = 30_000;
/** Age up to which a sample answers requests that need no newer one, in ms. */
const FRESH_MS = 10_000;

/** Most that a pause may be longer than the one before: the first samples read everything, and those that follow little. */
const MAX_GROWTH = 1.6;

/** Number of last samples whose median counts: other work of the process makes single ones look costly. */
const COMPARED_SAMPLES = 5;

/**
 * Returns the pause before the next sample in ms, so that the page takes no more than its share of a core. `costsMs` are the
 * processor times of the samples so far, with what followed them: the first ones load code, and do not count.
 * The pause is at least `pauseMs`, and grows by degrees from `lastMs`, the one before.
 */
export function samplePause(costsMs: readonly number[], pauseMs: number, lastMs: number): number {
  if (costsMs.length < COMPARED_SAMPLES) return pauseMs;
  const costMs = costsMs.slice(-COMPARED_SAMPLES).toSorted((a, b) => a - b)[COMPARED_SAMPLES >> 1] ?? 0;
  return Math.max(pauseMs, Math.min(costMs / MAX_LOAD, MAX_PAUSE_MS, lastMs * MAX_GROWTH));
}

/** Options of a LiveFeed. */
export interface LiveFeedOptions {
  readonly sampler: Pick<UiSampler, 'sample' | 'watch'>;
  readonly clock: Clock;
  /** Shortest pause between two samples, in ms. */
  readonly pauseMs: number;
  /** Signal that aborts when the server stops. */
  readonly signal: AbortSignal;
  /** Returns the processor time that this process used, in ms. */
  readonly processorMs: () => number;
}

/** Samples the nodes while there are streams, once for all of them. */
export class LiveFeed {
  readonly #options: LiveFeedOptions;
  readonly #streams = new Set<LiveStream>();
  #latest: UiSnapshot | undefined;
  /** Texts as of the last change that was passed to the streams. */
  #sent: LiveTexts | undefined;
  #sampledAtMs = Number.NEGATIVE_INFINITY;
  #sampling: Promise<UiSnapshot> | undefined;
  /** Ends the samples; undefined while there are none. */
  #running: AbortController | undefined;

  constructor(options: LiveFeedOptions) {
    this.#options = options;
    options.sampler.watch(() => {
      this.#pushNodes();
    });
  }

  /** Returns a recent sample, or takes one. Rejects with the reason of the run's signal. */
  async current(): Promise<UiSnapshot> {
    const {clock} = this.#options;
    if (this.#latest !== undefined && clock.monotonic() - this.#sampledAtMs < FRESH_MS) return this.#latest;
    return await this.#sample();
  }

  /** Calls `read` with a stream of the changes after a sample, and ends the stream when it resolves or rejects. */
  async open(read: (first: UiSnapshot, stream: LiveStream) => Promise<void>): Promise<void> {
    const first = await this.current();
    const stream = new LiveStream();
    this.#streams.add(stream);
    // While others watch, a newer sample may have been taken.
    const state = this.#latest ?? first;
    this.#start();
    try {
      await read(state, stream);
    } finally {
      this.#streams.delete(stream);
      if (this.#streams.size === 0) this.#running?.abort();
    }
  }

  /** Takes a sample now, for an action that changed something: one that is being taken may be older. */
  async refresh(): Promise<void> {
    if (this.#sampling !== undefined) await this.#sample();
    await this.#sample();
  }

  #start(): void {
    if (this.#running !== undefined && !this.#running.signal.aborted) return;
    const running = new AbortController();
    this.#running = running;
    runInBackground('samples of kcri ui', this.#run(running.signal));
  }

  async #run(stopped: AbortSignal): Promise<void> {
    const {clock, pauseMs, signal, processorMs} = this.#options;
    using either = anySignal(stopped, signal);
    const end = either.signal;
    try {
      const costsMs: number[] = [];
      let startMs = processorMs();
      let lastMs = pauseMs;
      while (!end.aborted) {
        lastMs = samplePause(costsMs, pauseMs, lastMs);
        await clock.sleep(lastMs, end);
        await this.#sample();
        const nowMs = processorMs();
        costsMs.push(nowMs - startMs);
        startMs = nowMs;
        costsMs.splice(0, costsMs.length - COMPARED_SAMPLES);
      }
    } catch (error) {
      if (!end.aborted) throw error;
    }
  }

  /** Takes a sample, or waits for the one that is being taken, and passes on what changed. */
  async #sample(): Promise<UiSnapshot> {
    const sampling = (this.#sampling ??= this.#options.sampler.sample());
    try {
      const snapshot = await sampling;
      if (this.#sampling === sampling) this.#accept(snapshot);
      return snapshot;
    } finally {
      if (this.#sampling === sampling) this.#sampling = undefined;
    }
  }

  /** Passes on the measurement of a node that has ended after the last sample. A sample that is being taken will have it. */
  #pushNodes(): void {
    const [latest, sent] = [this.#latest, this.#sent];
    if (latest === undefined || sent === undefined || this.#sampling !== undefined) return;
    const texts = {...sent, nodeTexts: textsOf(latest.nodes)};
    if (changeSince(sent, texts).nodes.size > 0) this.#push(texts);
  }

  #accept(snapshot: UiSnapshot): void {
    if (this.#latest === snapshot) return;
    this.#latest = snapshot;
    this.#sampledAtMs = this.#options.clock.monotonic();
    const {nowMs, nodes, podTexts, usageTexts} = snapshot;
    this.#push({nowMs, nodeTexts: textsOf(nodes), podTexts, usageTexts});
  }

  /** Passes the difference from the last texts to the streams. */
  #push(texts: LiveTexts): void {
    const change = changeSince(this.#sent, texts);
    this.#sent = texts;
    for (const stream of this.#streams) stream.push(change);
  }
}

function textsOf(nodes: readonly UiNode[]): ReadonlyMap<string, string> {
  return new Map(nodes.map((node) => [node.key, JSON.stringify(node)]));
}
