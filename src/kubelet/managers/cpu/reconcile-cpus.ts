import {containersOf} from '../../../api/pod-containers.js';
import {rethrowUnexpected} from '../../../base/errors.js';
import type {FileLogger} from '../../../base/logger.js';
import type {NodeManagerServices} from '../../contract/node-manager.js';
import {podRef} from '../../contract/pod-ref.js';
import {formatCpuSet, type CpuSet} from '../../resources/cpu-set.js';
import type {CpuAssigner} from './cpu-assigner.js';

/** Writes the CPUs of running containers to the runtime when they have changed. */
export class CpuReconciler {
  readonly #services: Pick<NodeManagerServices, 'activePods' | 'runningContainers' | 'updateContainer'>;
  readonly #log: FileLogger;
  /** CPUs that containers are known to have, by UID of the pod and name; nothing is known after a restart. */
  #written = new Map<string, Map<string, CpuSet>>();

  constructor(services: NodeManagerServices) {
    this.#services = services;
    this.#log = services.logger.forFile('reconcile-cpus.ts');
  }

  /** Records the CPUs that a container was created with. */
  record(uid: string, name: string, cpus: CpuSet): void {
    this.#written.set(uid, (this.#written.get(uid) ?? new Map<string, CpuSet>()).set(name, cpus));
  }

  /** Forgets the CPUs of a container, which is written again if it runs. */
  forget(uid: string, name: string): void {
    this.#written.get(uid)?.delete(name);
  }

  /** Updates the running containers of active pods (reconcileState). Failures are logged, and repeated the next time. */
  async run(assigner: CpuAssigner, signal: AbortSignal): Promise<void> {
    const {activePods, runningContainers, updateContainer} = this.#services;
    const running = new Map(runningContainers().map(({pod, name, id}) => [`${podRef(pod).uid}/${name}`, id]));
    const pods = activePods();
    const uids = new Set<string>(pods.map((pod) => podRef(pod).uid));
    for (const uid of this.#written.keys()) if (!uids.has(uid)) this.#written.delete(uid);
    for (const pod of pods)
      for (const {name} of containersOf(pod)) {
        const {uid} = podRef(pod);
        const id = running.get(`${uid}/${name}`);
        const cpus = assigner.cpusOf(pod, name);
        if (id === undefined || cpus === 0n || cpus === this.#written.get(uid)?.get(name)) continue;
        const cpusetCpus = formatCpuSet(cpus);
        try {
          await updateContainer(id, {cpusetCpus}, signal);
          this.record(uid, name, cpus);
        } catch (error) {
          signal.throwIfAborted();
          rethrowUnexpected(error);
          this.#log.error(error, 'failed to update container', {containerID: id, cpuSet: cpusetCpus});
        }
      }
  }
}
