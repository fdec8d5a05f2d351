import {KcriError} from '../../../base/errors.js';
import type {CommandContext} from '../../../cli/command/contexts.js';
import type {TopSample} from './top-table.js';
import type {ShownPod} from '../../pods/listed-pod.js';
import {TopSampler, withUsage, type PodSample, type TopSelection} from './top-sampler.js';

/** Pods of one of the nodes of `top`, with their usage. */
export interface NodeSample extends TopSample {
  /** Name of the node; undefined if there is only one. */
  readonly node: string | undefined;
  readonly shown: readonly ShownPod[];
  /** Services with connections to the node. */
  readonly services: CommandContext;
  /** True if the node failed after the sample. */
  readonly isStale: boolean;
}

/** Options of a TopNode. */
export interface TopNodeOptions {
  /** Name of the node; undefined if there is only one. */
  readonly name: string | undefined;
  /** Services of the whole command. */
  readonly whole: CommandContext;
  /** Opens services with connections of their own; undefined to use those of the command. */
  readonly open: ((attempt: number) => Promise<CommandContext>) | undefined;
  readonly selection: TopSelection;
}

/** First and longest pause before a node that failed is tried again, in ms. */
const RETRY_MS = 2000;
const MAX_RETRY_MS = 15_000;

/** One of the nodes of `top`. A node with services of its own is connected to again after it has failed. */
export class TopNode {
  readonly name: string | undefined;
  readonly #options: TopNodeOptions;
  #services: CommandContext | undefined;
  #sampler: TopSampler | undefined;
  #before: PodSample | undefined;
  #latest: NodeSample | undefined;
  #failure: KcriError | undefined;
  #running: Promise<void> | undefined;
  /** Number of connections that were tried. */
  #attempts = 0;
  #failures = 0;
  #retryAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: TopNodeOptions) {
    this.name = options.name;
    this.#options = options;
  }

  /** The last sample; undefined before the first. */
  get latest(): NodeSample | undefined {
    return this.#latest && {...this.#latest, isStale: this.#failure !== undefined};
  }

  /** Error since the last sample: of the node, or of its runtime. */
  get failure(): KcriError | undefined {
    return this.#failure;
  }

  /**
   * Takes a sample, or waits for the one that is being taken. A node with connections of its own that failed is only
   * tried after a pause, and its error is kept (`failure`). Rejects with the error of another node, and with the reason
   * of the run's signal.
   */
  async sample(): Promise<void> {
    const {clock} = this.#options.whole.context;
    if (this.#running === undefined && clock.monotonic() < this.#retryAtMs) return;
    const running = (this.#running ??= this.#take());
    try {
      await running;
    } finally {
      if (this.#running === running) this.#running = undefined;
    }
  }

  /** Connects to the node. Rejects with KcriError. */
  async connect(): Promise<void> {
    const {services} = await this.#open();
    await services.connections.default();
  }

  /** Reports whether the words of the selection select any pod. Missing pods are reported. Rejects with KcriError. */
  async hasPods(): Promise<boolean> {
    const {words, flags} = this.#options.selection;
    return await (await this.#open()).sampler.matches(words, flags);
  }

  async #take(): Promise<void> {
    const {whole, open, selection} = this.#options;
    try {
      const {services, sampler} = await this.#open();
      this.#accept(await sampler.sample(selection), services);
    } catch (error) {
      whole.signal.throwIfAborted();
      const reason = this.#services?.connections.loss ?? error;
      if (open === undefined || !(reason instanceof KcriError)) throw reason;
      await this.#fail(reason);
    }
  }

  #accept(sample: PodSample, services: CommandContext): void {
    const {failure, shown} = sample;
    this.#failures = 0;
    this.#failure = failure;
    // Without the runtime only kcri's pods are known: the last complete sample tells more.
    if (failure !== undefined && shown.length < (this.#latest?.shown.length ?? 0)) return;
    this.#latest = {...withUsage(this.#before, sample), node: this.name, services, isStale: false};
    this.#before = sample;
  }

  async #fail(error: KcriError): Promise<void> {
    const {whole} = this.#options;
    this.#failure = error;
    this.#failures += 1;
    const pauseMs = Math.min(RETRY_MS * 2 ** (this.#failures - 1), MAX_RETRY_MS);
    this.#retryAtMs = whole.context.clock.monotonic() + pauseMs;
    const services = this.#services;
    // A connection that is only slow or refused is used again: a shell or a log may be open on it.
    if (services?.connections.loss === undefined) return;
    this.#services = this.#sampler = undefined;
    await whole.connections.closePart(services.connections);
  }

  async #open(): Promise<{readonly services: CommandContext; readonly sampler: TopSampler}> {
    const {whole, open} = this.#options;
    this.#services ??= open === undefined ? whole : await open(this.#attempts++);
    this.#sampler ??= new TopSampler(this.#services);
    return {services: this.#services, sampler: this.#sampler};
  }
}
