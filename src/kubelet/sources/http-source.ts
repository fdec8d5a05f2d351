import type {LiveValue} from '../contract/live-value.js';
import type {ApiObject} from '../../api/types/v1-objects.js';
import {anySignal} from '../../base/async/any-signal.js';
import type {Clock} from '../../base/clock.js';
import {KcriError} from '../../base/errors.js';
import {decodeUtf8} from '../../base/fs/read-text-file.js';
import {createDeadline} from '../../base/async/deadline.js';
import {redactUrl} from '../../format/redact-url.js';
import {createApiObjects} from '../contract/api-objects.js';
import type {DesiredWorkload, DesiredPod} from '../contract/pod-update.js';
import {ChangedPaths, ALL_PATHS} from './changed-paths.js';
import {ManifestFetchError, fetchManifest, type ManifestHeaders} from './fetch-manifest.js';
import {
  prepareManifest,
  readManifest,
  warningsOf,
  type PreparePod,
  type DecodedManifest,
  type ManifestRejection,
  type ReadManifestOptions,
} from './prepare-manifest.js';
import {prepareWorkload} from './prepare-workload.js';
import {
  createSourceReport,
  type PodSource,
  type SourceReport,
  type SourceSet,
  type SourceSink,
} from './pod-source.js';

const TIMEOUT_MS = 10_000;
/** Number of consecutive failures that are logged at verbosity 0. */
const MAX_LOGGED_FAILURES = 3;
const REDUCED_VERBOSITY = 4;

/** Options of {@link HttpSource}. */
export interface HttpSourceOptions extends ReadManifestOptions {
  /** URL with scheme http or https; certificates are verified. */
  readonly url: string;
  readonly headers: ManifestHeaders;
  /** Interval between two requests, in ms (httpCheckFrequency). */
  readonly checkFrequencyMs: LiveValue<number>;
  readonly clock: Clock;
  readonly prepare: PreparePod;
}

/**
 * Source of the pods at a URL: a Pod or a list (config/http.go). If the request fails or one Pod is invalid, the pods
 * remain unchanged; an empty response removes them.
 *
 * Unlike the kubelet's, it also reads ConfigMaps, Secrets and ServiceAccounts, and it adds pods that return unchanged
 * after an empty response.
 */
export class HttpSource implements PodSource {
  readonly name = 'http';
  readonly #options: HttpSourceOptions;
  readonly #url: URL;
  readonly #wake = new ChangedPaths();
  /** Last response that was not empty, valid or not. */
  #data: Buffer | undefined;
  #wasEmpty = false;
  #failures = 0;
  /** Problems of the last data. */
  #problems: readonly SourceReport[] = [];
  /** Redirect targets for which withheld credentials were reported. */
  readonly #reportedRedirects = new Set<string>();

  constructor(options: HttpSourceOptions) {
    this.#options = options;
    this.#url = new URL(options.url);
  }

  reread(): void {
    this.#wake.add(ALL_PATHS);
  }

  async run(sink: SourceSink, signal: AbortSignal): Promise<void> {
    const {clock} = this.#options;
    try {
      for (;;) {
        await this.#poll(sink, signal);
        await this.#wake.waitForChange(this.#options.checkFrequencyMs.current, clock, signal);
        this.#wake.take();
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  async #poll(sink: SourceSink, signal: AbortSignal): Promise<void> {
    try {
      const data = await this.#fetch(sink, signal);
      if (data.length === 0) {
        if (!this.#wasEmpty) sink.set({pods: [], objects: []});
        this.#wasEmpty = true;
        this.#data = undefined;
        throw new ManifestFetchError(`zero-length data received from ${redactUrl(this.#url)}`);
      }
      if (this.#failures > 0) sink.report(this.#report('Successfully read pods from URL'));
      this.#failures = 0;
      this.#update(data, sink);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ManifestFetchError)) throw error;
      const failure = this.#failure(error);
      sink.problems?.([failure]);
      sink.report(failure);
    }
  }

  async #fetch(sink: SourceSink, signal: AbortSignal): Promise<Buffer> {
    const exceeded = (): Error => new Error('context deadline exceeded (Client.Timeout exceeded)');
    using limit = createDeadline(this.#options.clock, TIMEOUT_MS, exceeded);
    using either = anySignal(signal, limit.signal);
    return await fetchManifest(this.#url, {
      headers: this.#options.headers,
      onCredentialsWithheld: (to) => {
        this.#reportWithheldCredentials(redactUrl(to), sink);
      },
      signal: either.signal,
    });
  }

  /** Reports withheld credentials once for each redirect target. */
  #reportWithheldCredentials(url: string, sink: SourceSink): void {
    if (this.#reportedRedirects.has(url)) return;
    this.#reportedRedirects.add(url);
    const message = 'Withholding credentials because the URL redirects from https to http';
    sink.report(this.#report(message, {level: 'warning', fields: {url}}));
  }

  #update(data: Buffer, sink: SourceSink): void {
    if (this.#data?.equals(data)) {
      sink.problems?.(this.#problems);
      return;
    }
    this.#data = data;
    this.#wasEmpty = false;
    const manifest = decodeManifest(data, redactUrl(this.#url), this.#options);
    const result = manifest.kind === 'rejected' ? manifest : this.#prepareAll(manifest);
    this.#problems = [];
    if ('pods' in result) sink.set(result);
    else {
      const {error, issues} = result;
      const report = this.#report('Failed to read pods from URL', {error, issues, level: 'error'});
      this.#problems = [report];
      sink.report(report);
    }
    sink.problems?.(this.#problems);
    if (manifest.kind === 'read') this.#reportIgnored(manifest, sink);
  }

  #reportIgnored(manifest: DecodedManifest, sink: SourceSink): void {
    const removed = manifest.removedFields.join(', ');
    const message = 'Ignoring what an API server added to the objects of a manifest';
    if (removed !== '') sink.report(this.#report(message, {level: 'info', fields: {removed}}));
    for (const {action, ...rest} of warningsOf(manifest))
      sink.report(this.#report(`${action} manifest`, {level: 'warning', ...rest}));
  }

  #prepareAll(manifest: DecodedManifest): SourceSet | ManifestRejection {
    const objects: readonly ApiObject[] = manifest.objects.map(({object}) => object);
    const apiObjects = createApiObjects(objects, [redactUrl(this.#url)]);
    const pods: DesiredPod[] = [];
    for (const document of manifest.documents) {
      const prepared = prepareManifest(document, this.#options.prepare, apiObjects);
      if (prepared.kind === 'rejected') return prepared;
      pods.push(prepared.desired);
    }
    const workloads: DesiredWorkload[] = [];
    for (const document of manifest.workloads) {
      const prepared = prepareWorkload(document, this.#options.prepare, apiObjects);
      if (prepared.kind === 'rejected') return prepared;
      workloads.push(prepared.desired);
    }
    return {pods, workloads, objects};
  }

  #failure({message: error}: ManifestFetchError): SourceReport {
    this.#failures += 1;
    const verbosity = this.#failures > MAX_LOGGED_FAILURES + 1 ? REDUCED_VERBOSITY : 0;
    const dropping =
      this.#failures === MAX_LOGGED_FAILURES + 1
        ? `. Dropping verbosity of this message to V(${REDUCED_VERBOSITY})`
        : '';
    return this.#report(`Failed to read pods from URL${dropping}`, {error, verbosity});
  }

  #report(message: string, rest: Partial<SourceReport> = {}): SourceReport {
    return createSourceReport('http', message, {level: 'info', ...rest});
  }
}

function decodeManifest(
  data: Buffer,
  origin: string,
  options: ReadManifestOptions,
): ReturnType<typeof readManifest> {
  try {
    return readManifest(decodeUtf8(data, origin), origin, options);
  } catch (error) {
    if (!(error instanceof KcriError)) throw error;
    return {kind: 'rejected', error: error.message, issues: []};
  }
}
