import {X509Certificate} from 'node:crypto';
import {sleepLong} from '../../../base/async/deadline.js';
import type {RandomSource} from '../../../base/clock.js';
import type {FileLogger, Logger} from '../../../base/logger.js';
import type {CertificatePair} from '../../../format/x509/x509-parts.js';
import type {CertificateStore} from './certificate-store.js';
import {
  requestCertificate,
  type CertificatePurpose,
  type RequestCertificateOptions,
} from './request-certificate.js';

/** Options of {@link CertificateManager}. */
export interface CertificateManagerOptions extends RequestCertificateOptions {
  readonly purpose: CertificatePurpose;
  readonly store: CertificateStore;
  /** Certificate in PEM that is in use while the store has none. */
  readonly initial?: string | undefined;
  /** Called with each new certificate after it is stored; must not throw. */
  readonly onRotated: (pair: CertificatePair) => void;
  readonly logger: Logger;
}

/** Delays between failed attempts, in ms: doubled, then constant (client-go certificate.manager). */
const RETRY_DELAYS_MS = [2000, 4000, 8000, 16_000] as const;
const RETRY_PERIOD_MS = 32_000;

/** Requests a certificate if there is none, and a new one before it expires (client-go certificate.manager). */
export class CertificateManager {
  readonly #options: CertificateManagerOptions;
  readonly #logger: FileLogger;

  constructor(options: CertificateManagerOptions) {
    this.#options = options;
    this.#logger = options.logger.forFile('certificate-manager.ts');
  }

  /** Rotates the certificate until the signal aborts, then rejects with its reason. */
  async run(signal: AbortSignal): Promise<never> {
    const {store, initial, clock, random} = this.#options;
    let certificate = (await store.current())?.certificate ?? initial;
    for (;;) {
      const now = clock.now();
      const deadline = certificate === undefined ? now : rotationDeadline(certificate, random);
      if (deadline > now) {
        this.#logger.info('Waiting for next certificate rotation', {sleep: `${(deadline - now) / 1000}s`}, 2);
        await sleepLong(clock, deadline - now, signal);
      }
      certificate = (await this.rotate(signal)).certificate;
    }
  }

  /** Requests a certificate until it is stored; rejects with the signal's reason. */
  async rotate(signal: AbortSignal): Promise<CertificatePair> {
    const {purpose, store, clock, onRotated} = this.#options;
    for (let tries = 0; ; tries += 1) {
      try {
        this.#logger.info('Rotating certificates', {signerName: purpose.signerName}, 2);
        const pair = await requestCertificate(purpose, this.#options, signal);
        await store.update(pair, clock.now());
        onRotated(pair);
        return pair;
      } catch (error) {
        signal.throwIfAborted();
        this.#logger.error(error, 'Failed while requesting a signed certificate from the control plane');
      }
      await clock.sleep(RETRY_DELAYS_MS[tries] ?? RETRY_PERIOD_MS, signal);
    }
  }
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
