import type {Pod} from '../../../api/types/v1-pod.js';
import type {LocalServices} from '../../managers/network/local-services.js';
import {podRef, type PodRef} from '../../contract/pod-ref.js';
import type {PodRegistry} from './pod-registry.js';

/** Options of {@link HostsUpdater}. */
export interface HostsUpdaterOptions {
  readonly registry: Pick<PodRegistry, 'updateHostsFile'>;
  readonly services: LocalServices;
  /** Called when a hosts file cannot be written. */
  readonly onError: (pod: PodRef, error: unknown) => void;
}

/** Writes the names of Services into the hosts files of pods whenever the pods behind them change. */
export class HostsUpdater implements AsyncDisposable {
  readonly #options: HostsUpdaterOptions;
  readonly #stop: () => void;
  #isDue = false;
  #work: Promise<void> = Promise.resolve();

  constructor(options: HostsUpdaterOptions) {
    this.#options = options;
    this.#stop = options.services.onChange(() => {
      this.#request();
    });
  }

  /** Ends the updates after a last one. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop();
    this.#request();
    await this.#work;
  }

  #request(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    this.#work = this.#work.then(async () => this.#updateAll());
  }

  async #updateAll(): Promise<void> {
    this.#isDue = false;
    for (const {pod, ips, isOlder, hasEnded} of this.#options.services.pods)
      if (!isOlder && !hasEnded && ips.length > 0) await this.#update(pod, ips);
  }

  async #update(pod: Pod, ips: readonly string[]): Promise<void> {
    try {
      await this.#options.registry.updateHostsFile(pod, ips);
    } catch (error) {
      this.#options.onError(podRef(pod), error);
    }
  }
}
