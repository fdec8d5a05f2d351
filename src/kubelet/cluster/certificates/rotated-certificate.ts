import type {CertificatePair} from '../../../format/x509/x509-parts.js';
import type {IssuedCertificate} from '../../contract/cluster/issued-certificate.js';

/** The serving certificate that a CertificateManager replaces. */
export class RotatedCertificate implements IssuedCertificate {
  #current: CertificatePair | undefined;
  readonly #listeners: ((pair: CertificatePair) => void)[] = [];

  constructor(current: CertificatePair | undefined) {
    this.#current = current;
  }

  get current(): CertificatePair | undefined {
    return this.#current;
  }

  subscribe(listener: (pair: CertificatePair) => void): void {
    this.#listeners.push(listener);
  }

  /** Sets the certificate and calls the listeners. */
  readonly replace = (pair: CertificatePair): void => {
    this.#current = pair;
    for (const listener of this.#listeners) listener(pair);
  };
}
