import {byKey} from '../../../base/compare.js';
import {SystemError} from '../../../base/errors.js';
import type {ManagedNode} from '../../contract/node-facts.js';
import type {NodeManager, NodeManagerServices} from '../../contract/node-manager.js';
import {podRef} from '../../contract/pod-ref.js';
import type {CpuManagerSettings} from '../../contract/resources/cpu-manager-settings.js';
import type {CpuTopology} from '../../contract/resources/machine.js';
import {checkpointFile, StateFile, type CheckpointAccess} from '../../resources/checkpoint/state-file.js';
import {discoverCpus} from '../../resources/machine/discover-cpus.js';
import {createStaticPolicy, type StaticPolicy} from './policy/static-policy.js';
import {StaticCpuManager} from './static-cpu-manager.js';
import {restore} from './state/restore.js';
import {formatCpuState, parseCpuState, type CheckpointFormat} from './state/cpu-checkpoint.js';
import {cpuStatePath, type CpuState} from './state/cpu-state.js';

/** What decides which manager there is. */
export interface CpuManagerOptions {
  readonly settings: CpuManagerSettings;
  readonly topologyPolicy: string;
  /** CPUs that are reserved by systemReserved and kubeReserved, or by reservedSystemCPUs; undefined if none are. */
  readonly reservedMilli: bigint | undefined;
  readonly readTopology: () => CpuTopology;
  readonly openState: (services: NodeManagerServices) => StateFile<CpuState>;
}

/** Creates the CPU manager of a node; undefined in plans for a machine that is not known. */
export function createCpuManager({
  cpuManager: settings,
  machine,
  reservations,
  topologyManager,
}: ManagedNode): NodeManager | undefined {
  if (settings === undefined || machine === undefined) return undefined;
  const reservedMilli = reservations?.total.cpuMilli ?? 0n;
  return newCpuManager({
    settings,
    topologyPolicy: topologyManager?.policy ?? 'none',
    reservedMilli: reservedMilli === 0n ? undefined : reservedMilli,
    readTopology: () => discoverCpus(machine()),
    openState: (services) =>
      openCpuState(settings, checkpointFile(cpuStatePath(services.node.rootDir), services), services),
  });
}

/**
 * Creates the manager that gives containers CPUs of their own, by the policy `static`, or none any (`none`). Its start rejects
 * with the kubelet's text if the configuration does not fit the machine or what is stored.
 */
export function newCpuManager(options: CpuManagerOptions): NodeManager {
  const {settings, openState, readTopology, topologyPolicy, reservedMilli} = options;
  if (settings.policy !== 'static') return createNonePolicy(settings, openState);
  const createPolicy = (): StaticPolicy =>
    createStaticPolicy({settings, topology: readTopology(), topologyPolicy, reservedMilli});
  return new StaticCpuManager({...settings, createPolicy, openState});
}

/** Opens the state that is stored for the settings. */
export function openCpuState(
  {policy, managesPodLevel}: Pick<CpuManagerSettings, 'policy' | 'managesPodLevel'>,
  access: CheckpointAccess,
  services: Pick<NodeManagerServices, 'runningContainers' | 'logger'>,
): StateFile<CpuState> {
  const findContainer: CheckpointFormat['findContainer'] = (id) => {
    const found = services.runningContainers().find((container) => container.id === id);
    return found && {uid: podRef(found.pod).uid, name: found.name};
  };
  const format = {policy, managesPodLevel, findContainer};
  return new StateFile<CpuState>(
    access,
    {
      manager: 'CPU manager',
      format: (state) => formatCpuState(state, format),
      parse: (text) => parseCpuState(text, format),
    },
    services.logger,
  );
}

/** Creates the manager with the policy `none`, which only stores that there are no assignments. */
function createNonePolicy(
  {policy, options}: CpuManagerSettings,
  openState: CpuManagerOptions['openState'],
): NodeManager {
  return {
    name: 'cpu',
    answersPlans: true,
    validate: () => {
      validateNone(policy, options);
    },
    start: async (services) => {
      validateNone(policy, options);
      const file = openState(services);
      await file.save(await restore(file));
    },
  };
}

/** Throws SystemError with the kubelet's text unless the settings are those of the policy `none`. */
function validateNone(policy: string, options: CpuManagerSettings['options']): void {
  if (policy !== 'none')
    throw new SystemError(`unknown policy: "${policy}"`, {hint: 'set cpuManagerPolicy to none or static'});
  const given = Object.entries(options).toSorted(byKey);
  if (given.length > 0)
    throw new SystemError(
      `new none policy error: None policy: received unsupported options=map[${given.map((pair) => pair.join(':')).join(' ')}]`,
      {hint: 'remove cpuManagerPolicyOptions, or set cpuManagerPolicy to static'},
    );
}
