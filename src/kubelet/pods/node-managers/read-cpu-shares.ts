import {parseJsonObject} from '../../../base/parse-json-object.js';
import {machineReader} from '../../node/read-machine.js';
import {readCheckpointFile} from '../../resources/checkpoint/checkpoint.js';
import {discoverCpus} from '../../resources/machine/discover-cpus.js';
import {listCpuShares, type CpuShare} from '../../managers/cpu/list-cpu-shares.js';
import {parseCpuState} from '../../managers/cpu/state/cpu-checkpoint.js';
import {cpuStatePath} from '../../managers/cpu/state/cpu-state.js';

/**
 * Reads who has which CPUs of this machine, as the kubelet of the root directory stored it; undefined unless it gives containers
 * CPUs of their own. Rejects with SystemError if the state cannot be read.
 */
export async function readCpuShares(rootDir: string): Promise<readonly CpuShare[] | undefined> {
  const text = await readCheckpointFile(cpuStatePath(rootDir));
  if (text === undefined || parseJsonObject(text)['policyName'] !== 'static') return undefined;
  const format = {policy: 'static', managesPodLevel: true, findContainer: () => undefined};
  return listCpuShares(discoverCpus(machineReader()()), parseCpuState(text, format).containers);
}
