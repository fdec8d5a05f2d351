import {parseCpuSet} from '../../../src/kubelet/resources/cpu-set.js';
import type {FakeRuntime} from '../../fakes/fake-runtime.js';

/** What a running container has of the node. */
export interface RunningShare {
  readonly pod: string;
  readonly cpus: bigint;
  /** IDs of devices. */
  readonly devices: readonly string[];
}

interface Config {
  readonly labels?: Readonly<Record<string, string>>;
  readonly envs?: readonly {readonly key?: string; readonly value?: unknown}[];
  readonly linux?: {readonly resources?: {readonly cpusetCpus?: string}};
}

/** Returns what the running containers have, by what the runtime was told last. */
export function runningShares(fake: FakeRuntime): readonly RunningShare[] {
  return fake.containers
    .filter(({state}) => state === 'CONTAINER_RUNNING')
    .map(({id, config}) => {
      const {labels = {}, envs = [], linux} = config as Config;
      const devices = envs.find(({key}) => key === 'DEVS')?.value;
      const {cpusetCpus = ''} = linux?.resources ?? {};
      return {
        pod: String(labels['io.kubernetes.pod.name']).replace('-goldennode', ''),
        cpus: parseCpuSet(updatedCpus(fake, id) ?? cpusetCpus),
        devices: devices === undefined ? [] : textOf(devices).split(','),
      };
    });
}

/** Returns the CPUs that a container was given since its creation. */
function updatedCpus(fake: FakeRuntime, id: string): string | undefined {
  const updates = fake.callsTo('UpdateContainerResources').map(({request}) => request as unknown);
  const ofContainer = (updates as readonly UpdateRequest[]).filter((update) => update.container_id === id);
  return ofContainer.flatMap(({linux}) => linux?.cpuset_cpus ?? []).findLast((cpus) => cpus !== '');
}

interface UpdateRequest {
  readonly container_id: string;
  readonly linux?: {readonly cpuset_cpus?: string};
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : Buffer.from(value as Uint8Array).toString();
}

/** Returns the pods that have a CPU or a device that another running pod has for itself; `shared` has the CPUs of nobody. */
export function findDoubleUse(shares: readonly RunningShare[]): readonly string[] {
  const own = shares.filter(({pod}) => pod !== 'shared');
  return own.flatMap((one, index) =>
    own.slice(index + 1).flatMap((other) => {
      const devices = one.devices.filter((id) => other.devices.includes(id));
      return [
        ...((one.cpus & other.cpus) === 0n ? [] : [`${one.pod} and ${other.pod} have the same CPUs`]),
        ...devices.map((id) => `${one.pod} and ${other.pod} have device ${id}`),
      ];
    }),
  );
}
