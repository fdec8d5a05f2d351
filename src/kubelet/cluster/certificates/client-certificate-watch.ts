import {pause} from '../../../base/async/pause.js';
import type {Clock} from '../../../base/clock.js';
import {messageOf, SystemError} from '../../../base/errors.js';
import type {FileLogger, Logger} from '../../../base/logger.js';
import type {FileCredentials} from '../../../kube-api/index.js';
import type {CertificateManager} from './certificate-manager.js';

/** Options of {@link ClientCertificateWatch}. */
export interface ClientCertificateWatchOptions {
  readonly credentials: Pick<FileCredentials, 'lacksCertificate'>;
  readonly manager: Pick<CertificateManager, 'isServerHealthy' | 'failure'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Period of the checks, in ms, and number of checks without a certificate after which the kubelet ends. */
const PERIOD_MS = 10_000;
const MAX_CHECKS = 30;

/**
 * Ends the kubelet when it has had no valid client certificate for 5 minutes although the API server answers: only a restart
 * reads the kubeconfig again, and bootstraps again (UpdateTransport with exitAfter).
 */
export class ClientCertificateWatch {
  readonly #options: ClientCertificateWatchOptions;
  readonly #logger: FileLogger;

  constructor(options: ClientCertificateWatchOptions) {
    this.#options = options;
    this.#logger = options.logger.forFile('client-certificate-watch.ts');
  }

  /** Rejects with SystemError when the kubelet must end, and with the signal's reason. */
  async run(signal: AbortSignal): Promise<never> {
    const {credentials, manager, clock} = this.#options;
    // Counted, since the wall clock may jump.
    for (let checks = 0; ;) {
      await pause(clock, PERIOD_MS, signal);
      checks = (await credentials.lacksCertificate()) ? checks + 1 : 0;
      if (checks >= MAX_CHECKS && manager.isServerHealthy) throw restartError(manager.failure);
      if (checks > 0 && checks % MAX_CHECKS === 0)
        this.#logger.error(
          manager.failure ?? 'no certificate has been issued',
          'The node has no valid client certificate; a restart may be necessary to use other credentials',
        );
    }
  }
}

function restartError(failure: unknown): SystemError {
  const reason = failure === undefined ? '' : `: ${messageOf(failure)}`;
  return new SystemError(
    `the node has had no valid client certificate for 5 minutes, and the API server has not issued one${reason}`,
    {
      cause: failure,
      hint:
        'pods keep running; for the next start, provide a valid token in --bootstrap-kubeconfig or a valid client ' +
        'certificate in --kubeconfig',
    },
  );
}
