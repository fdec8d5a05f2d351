import type {CallEnd, CallSink, TappedCall} from '../tap/connection-tap.js';
import {Latencies} from './latencies.js';
import {methodOf} from '../tap/method-table.js';

/** Counts of the calls of one method. Times are in ms, and undefined for streams. */
export interface MethodSummary {
  readonly service: string;
  readonly method: string;
  readonly calls: number;
  readonly errors: number;
  /** Calls that have not ended. */
  readonly open: number;
  readonly p50Ms: number | undefined;
  readonly p90Ms: number | undefined;
  readonly p99Ms: number | undefined;
  readonly maxMs: number | undefined;
}

/** Maximum number of methods that are counted; a client could invent them. */
const MAX_METHODS = 500;
const OTHERS = '/(others)';

interface Counts {
  started: number;
  ended: number;
  errors: number;
  readonly latencies: Latencies;
}

/** Counts calls and errors, and measures latencies, per method. */
export class CallSummary implements CallSink {
  readonly #byPath = new Map<string, Counts>();

  onStart({path}: TappedCall): void {
    this.#counts(path).started += 1;
  }

  onMessage(): void {
    // Only starts and ends count.
  }

  onEnd({path}: TappedCall, {code, durationMs, by}: CallEnd): void {
    const counts = this.#counts(path);
    const isStream = methodOf(path).info?.stream === true;
    counts.ended += 1;
    // A client ends a stream by canceling it.
    if (code !== 'OK' && !(isStream && by === 'cancellation')) counts.errors += 1;
    if (!isStream) counts.latencies.add(durationMs);
  }

  #counts(path: string): Counts {
    const known = this.#byPath.get(path);
    if (known !== undefined) return known;
    if (this.#byPath.size > MAX_METHODS && path !== OTHERS) return this.#counts(OTHERS);
    const fresh = {started: 0, ended: 0, errors: 0, latencies: new Latencies()};
    this.#byPath.set(path, fresh);
    return fresh;
  }

  /** Number of calls that have started. */
  get calls(): number {
    return [...this.#byPath.values()].reduce((sum, {started}) => sum + started, 0);
  }

  /** Returns the counts, the most frequent method first. */
  methods(): readonly MethodSummary[] {
    return [...this.#byPath]
      .map(([path, {started, ended, errors, latencies}]) => {
        const {service, name} = methodOf(path);
        return {
          service,
          method: name,
          calls: started,
          errors,
          open: started - ended,
          p50Ms: latencies.quantile(0.5),
          p90Ms: latencies.quantile(0.9),
          p99Ms: latencies.quantile(0.99),
          maxMs: latencies.longest,
        };
      })
      .sort((a, b) => b.calls - a.calls || (a.method < b.method ? -1 : 1));
  }
}
