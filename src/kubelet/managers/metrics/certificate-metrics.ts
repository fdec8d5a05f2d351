import type {Clock} from '../../../base/clock.js';
import type {CertificateObserver} from '../../contract/cluster/certificate-observer.js';
import type {MetricFamily} from './exposition.js';
import {Counter, Gauge, Histogram, toSeconds} from './metric-types.js';

/** Buckets from a minute to four years (NewKubeletServerCertificateManager). */
const AGE_BUCKETS = [
  60, 3600, 14_400, 86_400, 604_800, 2_592_000, 7_776_000, 15_552_000, 31_104_000, 124_416_000,
];

type Kind = 'client' | 'server';

const NAMES = {
  client: {
    errors: 'kubelet_certificate_manager_client_expiration_renew_errors',
    ttl: 'kubelet_certificate_manager_client_ttl_seconds',
    ttlHelp:
      "Gauge of the TTL (time-to-live) of the Kubelet's client certificate. The value is in seconds until certificate expiry (negative if already expired). If client certificate is invalid or unused, the value will be +INF.",
  },
  server: {
    errors: 'kubelet_server_expiration_renew_errors',
    ttl: 'kubelet_certificate_manager_server_ttl_seconds',
    ttlHelp:
      "Gauge of the shortest TTL (time-to-live) of the Kubelet's serving certificate. The value is in seconds until certificate expiry (negative if already expired). If serving certificate is invalid or unused, the value will be +INF.",
  },
} as const;

/**
 * Metrics of the certificates that a control plane issues (pkg/kubelet/certificate). Those of a certificate that is not
 * managed do not exist, as in a kubelet.
 */
export class CertificateMetrics {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #collectors: (() => readonly MetricFamily[])[] = [];

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Begins to count for a certificate and returns its observer. */
  readonly observe = (kind: Kind): CertificateObserver => {
    const {errors: name, ttl: ttlName, ttlHelp} = NAMES[kind];
    const errors = new Counter({name, help: 'Counter of certificate renewal errors.'});
    const ttl = new Gauge({name: ttlName, help: ttlHelp});
    const age = new Histogram({
      name: 'kubelet_certificate_manager_server_rotation_seconds',
      help: 'Histogram of the number of seconds the previous certificate lived before being rotated.',
      buckets: AGE_BUCKETS,
    });
    let expiresAtMs = Infinity;
    this.#collectors.push(() => {
      ttl.set(Math.trunc((expiresAtMs - this.#clock.now()) / 1000));
      return [errors.family(), ttl.family(), ...(kind === 'server' ? [age.family()] : [])];
    });
    return {
      failed: () => {
        errors.increase();
      },
      replaced: (expiresAt, previousAgeMs) => {
        expiresAtMs = expiresAt;
        if (previousAgeMs !== undefined) age.observe(toSeconds(previousAgeMs));
      },
    };
  };

  families(): readonly MetricFamily[] {
    return this.#collectors.flatMap((collect) => collect());
  }
}
