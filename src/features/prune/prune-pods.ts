import {KcriError} from '../../base/errors.js';
import {isNotFound, type ContainerId, type RuntimeService} from '../../cri/index.js';
import {listAllContainers} from '../../cri/list-all.js';
import {truncateId} from '../../format/truncate-id.js';
import {removeContainer} from '../../operations/containers/remove-container.js';
import {removeLogFiles} from '../../operations/logs/remove-log-files.js';
import {removeSandbox} from '../../operations/pods/remove-sandbox.js';
import type {
  PrunableContainer,
  PrunablePod,
  PrunePlan,
  PrunableSandbox,
} from '../../operations/prune/plan-prune.js';
import {StillRunningError} from '../../operations/still-running-error.js';
import type {OutputContext, ReportContext, SignalContext} from '../../cli/command/contexts.js';

/** Advice on an object that was kept because it is in use. */
const AGAIN = 'prune again when it has ended';

/** Objects that were removed. */
export interface PrunedPods {
  readonly sandboxes: number;
  /** IDs of the removed containers. */
  readonly containers: ReadonlySet<string>;
}

/**
 * Removes exited containers with their logs, and sandboxes that are not ready. Objects that run again are skipped with a
 * warning; failures are reported and do not stop the others.
 */
export async function prunePods(
  services: OutputContext & ReportContext & SignalContext,
  runtime: RuntimeService,
  plan: PrunePlan,
): Promise<PrunedPods> {
  const pruner = new PodPruner(services, runtime);
  for (const container of plan.containers) await pruner.removeContainer(container);
  for (const sandbox of plan.sandboxes) await pruner.removeSandbox(sandbox);
  return pruner;
}

/** Returns the name of a container in messages. */
export function containerTitle({namespace, name}: PrunablePod, container: string): string {
  return `${namespace}/${name}/${container}`;
}

class PodPruner implements PrunedPods {
  readonly #services: OutputContext & ReportContext & SignalContext;
  readonly #runtime: RuntimeService;
  sandboxes = 0;
  readonly containers = new Set<string>();

  constructor(services: OutputContext & ReportContext & SignalContext, runtime: RuntimeService) {
    this.#services = services;
    this.#runtime = runtime;
  }

  async removeContainer({pod, container}: PrunableContainer): Promise<boolean> {
    const shown = containerTitle(pod, container.metadata?.name ?? container.id);
    return await this.#attempt(`container "${shown}"`, async () => {
      await this.#remove(container.id, shown);
    });
  }

  async removeSandbox({pod, sandbox: {id, state}, containers}: PrunableSandbox): Promise<void> {
    const {out, report, signal} = this.#services;
    const title = `${pod.namespace}/${pod.name}`;
    // A container that was started, or added, since the plan.
    const now = await listAllContainers(this.#runtime, {podSandboxId: id}, signal);
    const isUsed = now.some(
      (container) =>
        container.state !== 'CONTAINER_EXITED' &&
        !containers.some((known) => known.id === container.id && known.state === container.state),
    );
    if (isUsed) {
      report.warn(
        `pod "${title}" was kept: one of its containers was created or started in the meantime; ${AGAIN}`,
      );
      return;
    }
    for (const container of now) if (!(await this.removeContainer({pod, container}))) return;
    await this.#attempt(`pod "${title}"`, async () => {
      // The sandbox of a finished `kcri run` has to be stopped; nothing is in it any more.
      const force = state === 'SANDBOX_READY';
      await removeSandbox(this.#runtime, id, {shown: title, force, signal});
      this.sandboxes += 1;
      out.print(`Removed pod ${title} (${truncateId(id)})`);
    });
  }

  async #remove(id: ContainerId, shown: string): Promise<void> {
    const {out, report, signal} = this.#services;
    await removeContainer(this.#runtime, id, {
      shown,
      force: false,
      onRemoved: async (removed) => {
        this.containers.add(id);
        out.print(`Removed container ${shown} (${truncateId(id)})`);
        await removeLogFiles(removed, (file) => {
          report.warn(
            `log file "${file}" was kept: it is older than the container, so that it may be that of another one`,
          );
        });
      },
      signal,
    });
  }

  /** Removes an object and returns whether it does not exist any longer. */
  async #attempt(title: string, remove: () => Promise<void>): Promise<boolean> {
    const {report, signal} = this.#services;
    signal.throwIfAborted();
    try {
      await remove();
      return true;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof KcriError)) throw error;
      // Another program has removed it.
      if (isNotFound(error)) return true;
      if (error instanceof StillRunningError)
        report.warn(`${title} was kept: it was started in the meantime; ${AGAIN}`);
      else report.fail(error);
      return false;
    }
  }
}
