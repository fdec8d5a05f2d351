import type {CertificatePair} from '../../../format/x509/x509-parts.js';

/** A certificate that is replaced while the server runs. */
export interface IssuedCertificate {
  /** Undefined before the first one. */
  readonly current: CertificatePair | undefined;
  /** Calls the listener with each later certificate. */
  subscribe(listener: (pair: CertificatePair) => void): void;
}
