import type {StartQueue} from '../../../src/kubelet/contract/cluster/cluster-link.js';

/** Pods that wait for their turn to start when the test says so. */
export class FakeStarts implements StartQueue {
  isBusy = false;
  #resolve: (() => void)[] = [];

  async whenIdle(): Promise<void> {
    if (this.isBusy) await new Promise<void>((resolve) => this.#resolve.push(resolve));
  }

  begin(): void {
    this.isBusy = true;
  }

  end(): void {
    this.isBusy = false;
    for (const resolve of this.#resolve.splice(0)) resolve();
  }
}
