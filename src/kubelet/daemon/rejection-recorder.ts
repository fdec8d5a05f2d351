import type {Pod} from '../../api/types/v1-pod.js';
import type {FileLogger, Logger} from '../../base/logger.js';
import type {PodUid} from '../../cri/index.js';
import {podRef} from '../contract/pod-ref.js';
import type {Rejection} from '../contract/pod-rejection.js';
import type {RejectionSink} from '../pods/admission/pod-admission.js';
import type {PodRegistry} from '../pods/registry/pod-registry.js';

/** Options of a RejectionRecorder. */
export interface RejectionRecorderOptions {
  readonly registry: Pick<PodRegistry, 'rejected' | 'createRejectedPod'>;
  /** Returns the origin of a desired pod. */
  readonly originOf: (uid: PodUid) => string;
  readonly logger: Logger;
}

/** Stores the pods that the daemon rejects, one change after the other, for commands of other processes. */
export class RejectionRecorder implements RejectionSink {
  readonly #options: RejectionRecorderOptions;
  readonly #logger: FileLogger;
  #last: Promise<void> = Promise.resolve();

  constructor(options: RejectionRecorderOptions) {
    this.#options = options;
    this.#logger = options.logger.forFile('rejection-recorder.ts');
  }

  readonly record = (pod: Pod, rejection: Rejection): void => {
    const {registry, originOf} = this.#options;
    const rejected = registry.createRejectedPod(pod, originOf(podRef(pod).uid), rejection);
    this.#enqueue(async () => {
      await registry.rejected.put({...rejected, manager: 'kubelet'});
    });
  };

  readonly clear = (uid: PodUid): void => {
    this.#enqueue(async () => {
      await this.#options.registry.rejected.delete(uid);
    });
  };

  /** Removes the rejections of earlier daemons. */
  start(): void {
    this.#enqueue(async () => {
      await this.#options.registry.rejected.deleteOfKubelet();
    });
  }

  /** Resolves when everything is stored. */
  async flush(): Promise<void> {
    await this.#last;
  }

  /** Adds a change, whose failure is logged: commands then show outdated rejections. */
  #enqueue(change: () => Promise<void>): void {
    this.#last = this.#last.then(change).catch((error: unknown) => {
      this.#logger.error(error, 'Failed to store rejected pods', {});
    });
  }
}
