/** Observes a certificate that a control plane issues. Methods must be fast and must not throw. */
export interface CertificateObserver {
  /** Called for each failed attempt to get a new one. */
  failed(): void;
  /**
   * Called with the expiry of the certificate in use, in ms since the epoch, and with the age of the one that it
   * replaces, in ms; undefined for the first one.
   */
  replaced(expiresAtMs: number, previousAgeMs: number | undefined): void;
}

/** Returns the observer of the client or the serving certificate. */
export type ObserveCertificate = (kind: 'client' | 'server') => CertificateObserver;
