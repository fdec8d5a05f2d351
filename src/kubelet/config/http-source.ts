import type {ApiObject} from '../../api/v1-objects.js';
import type {Clock} from '../../base/clock.js';
import {KcriError} from '../../base/errors.js';
import {decodeUtf8} from '../../base/read-text-file.js';
import {timeLimit} from '../../base/time-limit.js';
import {shownUrl} from '../../format/shown-url.js';
import {apiObjects} from '../container/api-objects.js';
import type {DesiredPod} from '../container/pod-update.js';
import {ChangedNames, EVERYTHING} from './changed-names.js';
import {FetchError, fetchManifest, type ManifestHeaders} from './fetch-manifest.js';
import {
  prepareManifest,
  readManifest,
  type PreparePod,
  type ReadManifest,
  type Refusal,
} from './manifest-reading.js';
import {
  sourceReport,
  type PodSource,
  type SourceReport,
  type SourceSet,
  type SourceSink,
} from './pod-source.js';

const TIMEOUT_MS = 10_000;
/** So many failures in a row are told of as they are; who wants more asks for more verbosity. */
const MOST_TOLD = 3;
const QUIET_VERBOSITY = 4;

/** Which URL is followed, and how. */
export interface HttpSourceOptions {
  /** http or https; certificates are verified. */
  readonly url: string;
  readonly headers: ManifestHeaders;
  /** How long it waits between two requests (httpCheckFrequency). */
  readonly checkFrequencyMs: number;
  readonly clock: Clock;
  readonly prepare: PreparePod;
}

/**
 * The pods of a URL (config/http.go): a Pod or a list, of which all are taken or none. What can't be fetched or used
 * leaves the pods as they were; an empty answer ends them.
 *
 * Unlike a kubelet it takes the ConfigMaps, Secrets and ServiceAccounts of the answer too, and pods that return behind
 * an empty answer.
 */
export class HttpSource implements PodSource {
  readonly name = 'http';
  readonly #options: HttpSourceOptions;
  readonly #url: URL;
  readonly #wake = new ChangedNames();
  /** The last answer that wasn't empty, usable or not. */
  #data: Buffer | undefined;
  #wasEmpty = false;
  #failures = 0;
  readonly #withheldFrom = new Set<string>();

  constructor(options: HttpSourceOptions) {
    this.#options = options;
    this.#url = new URL(options.url);
  }

  reread(): void {
    this.#wake.add(EVERYTHING);
  }

  async run(sink: SourceSink, signal: AbortSignal): Promise<void> {
    const {clock} = this.#options;
    try {
      for (;;) {
        await this.#look(sink, signal);
        await this.#wake.within(this.#options.checkFrequencyMs, clock, signal);
        this.#wake.take();
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  async #look(sink: SourceSink, signal: AbortSignal): Promise<void> {
    try {
      const data = await this.#fetch(sink, signal);
      if (data.length === 0) {
        if (!this.#wasEmpty) sink.set({pods: [], objects: []});
        this.#wasEmpty = true;
        this.#data = undefined;
        throw new FetchError(`zero-length data received from ${shownUrl(this.#url)}`);
      }
      if (this.#failures > 0) sink.report(this.#report('Successfully read pods from URL'));
      this.#failures = 0;
      this.#take(data, sink);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof FetchError)) throw error;
      sink.report(this.#failure(error));
    }
  }

  async #fetch(sink: SourceSink, signal: AbortSignal): Promise<Buffer> {
    const exceeded = (): Error => new Error('context deadline exceeded (Client.Timeout exceeded)');
    using limit = timeLimit(this.#options.clock, TIMEOUT_MS, exceeded);
    return await fetchManifest(this.#url, {
      headers: this.#options.headers,
      withheld: (to) => {
        this.#tellWithheld(shownUrl(to), sink);
      },
      signal: AbortSignal.any([signal, limit.signal]),
    });
  }

  /** Once for each place that it is redirected to. */
  #tellWithheld(url: string, sink: SourceSink): void {
    if (this.#withheldFrom.has(url)) return;
    this.#withheldFrom.add(url);
    const message = 'Credentials are not sent on, since the URL redirects from https to http';
    sink.report(this.#report(message, {level: 'warning', fields: {url}}));
  }

  #take(data: Buffer, sink: SourceSink): void {
    if (this.#data?.equals(data)) return;
    this.#data = data;
    this.#wasEmpty = false;
    const reading = readText(data, shownUrl(this.#url));
    const found = reading.kind === 'refused' ? reading : this.#prepareAll(reading);
    if ('pods' in found) sink.set(found);
    else sink.report(this.#report('Failed to read pods from URL', {...told(found), level: 'error'}));
    const issues = reading.kind === 'refused' ? [] : reading.unknownFields;
    const error = issues.map(({message}) => message).join(', ');
    if (error === '') return;
    sink.report(this.#report('Ignoring unknown fields of manifest', {level: 'warning', error, issues}));
  }

  #prepareAll(reading: ReadManifest): SourceSet | Refusal {
    const objects: readonly ApiObject[] = reading.objects.map(({object}) => object);
    const given = apiObjects(objects, [shownUrl(this.#url)]);
    const pods: DesiredPod[] = [];
    for (const document of reading.documents) {
      const prepared = prepareManifest(document, this.#options.prepare, given);
      if (prepared.kind === 'refused') return prepared;
      pods.push(prepared.desired);
    }
    return {pods, objects};
  }

  #failure({message: error}: FetchError): SourceReport {
    this.#failures += 1;
    const verbosity = this.#failures > MOST_TOLD + 1 ? QUIET_VERBOSITY : 0;
    const dropping =
      this.#failures === MOST_TOLD + 1 ? `. Dropping verbosity of this message to V(${QUIET_VERBOSITY})` : '';
    return this.#report(`Failed to read pods from URL${dropping}`, {error, verbosity});
  }

  #report(message: string, rest: Partial<SourceReport> = {}): SourceReport {
    return sourceReport('http', message, {level: 'info', ...rest});
  }
}

function told({error, issues}: Refusal): Partial<SourceReport> {
  return {error, issues};
}

function readText(data: Buffer, shown: string): ReturnType<typeof readManifest> {
  try {
    return readManifest(decodeUtf8(data, shown), shown);
  } catch (error) {
    if (!(error instanceof KcriError)) throw error;
    return {kind: 'refused', error: error.message, issues: []};
  }
}
