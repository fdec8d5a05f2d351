import {X509Certificate} from 'node:crypto';
import {isDeepStrictEqual} from 'node:util';
import {anySignal} from '../../../base/async/any-signal.js';
import {pause} from '../../../base/async/pause.js';
import type {Clock, RandomSource} from '../../../base/clock.js';
import type {FileLogger, Logger} from '../../../base/logger.js';
import type {CertificatePair} from '../../../format/x509/x509-parts.js';
import {ApiError, type ApiClient} from '../../../kube-api/index.js';
import type {CertificateObserver} from '../../contract/cluster/certificate-observer.js';
import {satisfiesPurpose, type CertificatePurpose} from './certificate-purpose.js';
import type {CertificateStore} from './certificate-store.js';
import {
  submitRequest,
  waitForCertificate,
  type ReusedRequest,
  type SubmittedRequest,
} from './request-certificate.js';

/** Options of {@link CertificateManager}. */
export interface CertificateManagerOptions {
  /** Returns the client for the next request. */
  readonly client: () => Promise<ApiClient>;
  /** Returns the purpose at the moment; undefined while no certificate can be requested. */
  readonly purpose: () => CertificatePurpose | undefined;
  readonly store: CertificateStore;
  /** Certificate in PEM that is in use; undefined to request one at once. */
  readonly initial?: string | undefined;
  /** Request to use in place of one with a new key. */
  readonly reused?: ReusedRequest | undefined;
  /** Called with each new certificate after it is stored; must not throw. */
  readonly onRotated: (pair: CertificatePair) => void;
  /** Observer of the certificate; none by default. */
  readonly observer?: CertificateObserver | undefined;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
}

/** Delays between failed attempts, in ms: doubled, then constant (client-go certificate.manager). */
const RETRY_DELAYS_MS = [2000, 4000, 8000, 16_000] as const;
const RETRY_PERIOD_MS = 32_000;
/** Period in which the purpose is compared with the certificate, in ms. */
const CHECK_PERIOD_MS = 1000;
/** Pause between two rotations, in ms (the period of wait.Until in certificateManager.Start). */
const ROTATION_PAUSE_MS = 1000;

/**
 * Requests a certificate if there is none, and a new one before it expires or when it lacks a name of the node (client-go
 * certificate.manager).
 */
export class CertificateManager {
  readonly #options: CertificateManagerOptions;
  readonly #logger: FileLogger;
  #certificate: X509Certificate | undefined;
  /** Time at which the certificate is to be replaced, in ms since the epoch. */
  #deadline: number;
  #isServerHealthy = false;
  #failure: unknown;

  constructor(options: CertificateManagerOptions) {
    this.#options = options;
    this.#logger = options.logger.forFile('certificate-manager.ts');
    const {initial, clock, random} = options;
    this.#certificate = initial === undefined ? undefined : new X509Certificate(initial);
    if (this.#certificate !== undefined)
      options.observer?.replaced(Date.parse(this.#certificate.validTo), undefined);
    this.#deadline = initial === undefined ? clock.now() : rotationDeadline(initial, random);
  }

  /**
   * True if the API server has issued the last certificate, or if it answers and does not accept the credentials for
   * another one (ServerHealthy).
   */
  get isServerHealthy(): boolean {
    return this.#isServerHealthy;
  }

  /** Error of the last attempt; undefined if it was successful. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Rotates the certificate until the signal aborts, then rejects with its reason. */
  async run(signal: AbortSignal): Promise<never> {
    for (;;) {
      await this.rotate(signal);
      // A signer may issue certificates that are due at once.
      await pause(this.#options.clock, ROTATION_PAUSE_MS, signal);
    }
  }

  /** Waits until a certificate is due and requests it until it is stored; rejects with the signal's reason. */
  async rotate(signal: AbortSignal): Promise<void> {
    const {clock} = this.#options;
    for (let tries = 0; ; tries += 1) {
      const purpose = await this.#whenDue(signal);
      try {
        await this.#request(purpose, signal);
        this.#failure = undefined;
        return;
      } catch (error) {
        signal.throwIfAborted();
        this.#failure = error;
        this.#options.observer?.failed();
        this.#logger.error(error, 'Failed while requesting a signed certificate from the control plane');
      }
      await pause(clock, RETRY_DELAYS_MS[tries] ?? RETRY_PERIOD_MS, signal);
    }
  }

  /** Resolves with the purpose of the next certificate when it is to be requested. */
  async #whenDue(signal: AbortSignal): Promise<CertificatePurpose> {
    const {purpose, clock} = this.#options;
    const leftMs = this.#deadline - clock.now();
    if (leftMs > 0)
      this.#logger.info('Waiting for next certificate rotation', {sleep: `${leftMs / 1000}s`}, 2);
    for (;;) {
      const current = purpose();
      if (current !== undefined && this.#isDue(current)) return current;
      await pause(clock, CHECK_PERIOD_MS, signal);
    }
  }

  #isDue(purpose: CertificatePurpose): boolean {
    if (this.#certificate === undefined || this.#deadline <= this.#options.clock.now()) return true;
    return !satisfiesPurpose(this.#certificate, purpose);
  }

  async #request(purpose: CertificatePurpose, signal: AbortSignal): Promise<void> {
    const {store, clock, random, onRotated, observer} = this.#options;
    this.#logger.info('Rotating certificates', {signerName: purpose.signerName}, 2);
    const client = await this.#options.client();
    const submitted = await this.#submit(purpose, client, signal);
    const done = new AbortController();
    const outdated = this.#whenOutdated(purpose, done.signal);
    try {
      using either = anySignal(signal, outdated);
      const ending = either.signal;
      const pair = await waitForCertificate(submitted, {client, clock, random}, ending);
      await store.update(pair, clock.now());
      this.#isServerHealthy = true;
      const previous = this.#certificate;
      this.#certificate = new X509Certificate(pair.certificate);
      const ageMs = previous && clock.now() - Date.parse(previous.validFrom);
      observer?.replaced(Date.parse(this.#certificate.validTo), ageMs);
      this.#deadline = rotationDeadline(pair.certificate, random);
      onRotated(pair);
    } finally {
      done.abort();
    }
  }

  async #submit(
    purpose: CertificatePurpose,
    client: ApiClient,
    signal: AbortSignal,
  ): Promise<SubmittedRequest> {
    const {clock, reused} = this.#options;
    try {
      return await submitRequest(purpose, {client, clock, reused}, signal);
    } catch (error) {
      this.#isServerHealthy = isRefusal(error);
      throw error;
    }
  }

  /** Returns a signal that aborts when the node has other names than those of a request. */
  #whenOutdated(requested: CertificatePurpose, signal: AbortSignal): AbortSignal {
    const {purpose, clock} = this.#options;
    const outdated = new AbortController();
    const check = async (): Promise<void> => {
      while (isDeepStrictEqual(purpose() ?? requested, requested))
        await pause(clock, CHECK_PERIOD_MS, signal);
      outdated.abort(new Error('the names or addresses of the node have changed'));
    };
    check().catch(() => undefined); // the request was decided first
    return outdated.signal;
  }
}

/**
 * Reports whether the API server works and does not accept the credentials (updateServerError). A proxy may answer 401 in
 * its place, but other errors without a Status document are not those of an API server.
 */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  const {code, reason} = error;
  return code === 401 || ((code === 403 || code === 404) && reason !== '');
}

/**
 * Returns the time at which a certificate is to be replaced, in ms since the epoch: after 70 to 90 % of its lifetime, so
 * that the nodes of a cluster do not rotate together (nextRotationDeadline).
 */
export function rotationDeadline(certificate: string, random: RandomSource): number {
  const {validFrom, validTo} = new X509Certificate(certificate);
  const [notBefore, notAfter] = [Date.parse(validFrom), Date.parse(validTo)];
  return notBefore + (notAfter - notBefore) * (0.7 + 0.2 * (random() / 2 ** 32));
}
