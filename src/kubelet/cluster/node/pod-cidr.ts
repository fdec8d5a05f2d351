import type {Node} from '../../../api/types/v1-node.js';
import type {FileLogger, Logger} from '../../../base/logger.js';
import type {RuntimeService} from '../../../cri/index.js';

/** Passes the pod CIDRs of the Node to the runtime, whose network plugin may need them (Kubelet.updatePodCIDR). */
export class PodCidr {
  readonly #runtime: Pick<RuntimeService, 'updateRuntimeConfig'>;
  readonly #logger: FileLogger;
  /** CIDRs that the runtime has, separated by commas. */
  #known = '';

  constructor(runtime: Pick<RuntimeService, 'updateRuntimeConfig'>, logger: Logger) {
    this.#runtime = runtime;
    this.#logger = logger.forFile('pod-cidr.ts');
  }

  /** Reports whether the Node has CIDRs that the runtime does not have yet. */
  isOutdated(node: Node): boolean {
    const cidrs = podCidrsOf(node);
    return cidrs !== '' && cidrs !== this.#known;
  }

  /** Updates the runtime if its CIDRs are outdated. A failure is logged; the next call tries again. */
  async update(node: Node, signal: AbortSignal): Promise<void> {
    if (!this.isOutdated(node)) return;
    const podCidr = podCidrsOf(node);
    try {
      await this.#runtime.updateRuntimeConfig({runtimeConfig: {networkConfig: {podCidr}}}, {signal});
      this.#logger.info('Updating Pod CIDR', {originalPodCIDR: this.#known, newPodCIDR: podCidr});
      this.#known = podCidr;
    } catch (error) {
      if (!signal.aborted) this.#logger.error(error, 'Error updating pod CIDR');
    }
  }
}

const podCidrsOf = ({spec}: Node): string => (spec.podCIDRs ?? []).join(',');
