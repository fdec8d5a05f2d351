import type {Node, NodeStatus} from '../../../api/types/v1-node.js';
import type {NodeEvent} from '../../contract/cluster/node-event.js';
import type {CgroupFacts} from '../../contract/node-facts.js';

/** Reasons of the events about a condition, by its new status. */
const CONDITION_REASONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  MemoryPressure: {True: 'NodeHasInsufficientMemory', False: 'NodeHasSufficientMemory'},
  DiskPressure: {True: 'NodeHasDiskPressure', False: 'NodeHasNoDiskPressure'},
  PIDPressure: {True: 'NodeHasInsufficientPID', False: 'NodeHasSufficientPID'},
  Ready: {True: 'NodeReady', False: 'NodeNotReady'},
};

const CGROUP_V1_MESSAGE =
  'cgroup v1 detected. cgroup v1 support is deprecated and will be removed in a future release. Please migrate to cgroup v2. ' +
  'More information at https://git.k8s.io/enhancements/keps/sig-node/5573-remove-cgroup-v1';

/** Minimum number of times that a kubelet records the pressure conditions at its start. */
const PRESSURE_REPORTS = 3;

/** Returns the event about a node that has another status now (Kubelet.recordNodeStatusEvent). */
function statusEvent(nodeName: string, reason: string): NodeEvent {
  return {type: 'Normal', reason, message: `Node ${nodeName} status is now: ${reason}`};
}

/**
 * Returns the events about conditions that have another status than before (nodestatus setters). A node without the
 * condition Ready counts as not ready, as a kubelet registers it.
 */
export function computeConditionEvents(
  nodeName: string,
  before: NodeStatus,
  after: NodeStatus,
): readonly NodeEvent[] {
  return (after.conditions ?? []).flatMap(({type, status}) => {
    const known = before.conditions?.find((condition) => condition.type === type)?.status;
    const reason = CONDITION_REASONS[type]?.[status];
    const isSame = status === (known ?? (type === 'Ready' ? 'False' : 'Unknown'));
    return reason === undefined || isSame ? [] : [statusEvent(nodeName, reason)];
  });
}

/** Returns the event about a changed boot ID; undefined if it is the same or unknown (nodestatus.MachineInfo). */
export function computeRebootEvent(
  nodeName: string,
  before: NodeStatus,
  after: NodeStatus,
): NodeEvent | undefined {
  const [known = '', bootId = ''] = [before.nodeInfo?.bootID, after.nodeInfo?.bootID];
  if (known === '' || bootId === '' || known === bootId) return undefined;
  const message = `Node ${nodeName} has been rebooted, boot id: ${bootId}`;
  return {type: 'Warning', reason: 'Rebooted', message};
}

/** Records the events about the node of a kubelet. */
export class NodeEvents {
  readonly #nodeName: string;
  readonly #record: (event: NodeEvent) => void;
  #isUnschedulable = false;
  #isRebootRecorded = false;

  constructor(nodeName: string, record: (event: NodeEvent) => void) {
    this.#nodeName = nodeName;
    this.#record = record;
  }

  /** Records the start of the kubelet, and a deprecated version of cgroups (Kubelet.BirthCry, cgroupVersionCheck). */
  started(cgroupVersion: CgroupFacts['version']): void {
    this.#record({type: 'Normal', reason: 'Starting', message: 'Starting kubelet.'});
    if (cgroupVersion === 1) this.#record({type: 'Warning', reason: 'CgroupV1', message: CGROUP_V1_MESSAGE});
  }

  /**
   * Records the conditions of a registered node. As in a kubelet, each start reports the pressure conditions, and more
   * than once, since a kubelet computes the Node again for whatever needs it before the watch has it. The Ready condition
   * of a node that existed already is compared with the next status.
   */
  registered({status = {}}: Node, isNew: boolean): void {
    const conditions = status.conditions ?? [];
    const pressure = conditions.filter(({type}) => type !== 'Ready');
    for (let count = 1; count < PRESSURE_REPORTS; count += 1)
      this.#recordConditions({}, {conditions: pressure});
    this.#recordConditions({}, {conditions: isNew ? conditions : pressure});
  }

  /** Records the changes of a status that the API server has accepted. */
  reported(before: NodeStatus, after: NodeStatus): void {
    const reboot = computeRebootEvent(this.#nodeName, before, after);
    if (reboot !== undefined && !this.#isRebootRecorded) {
      this.#isRebootRecorded = true;
      this.#record(reboot);
    }
    this.#recordConditions(before, after);
  }

  /**
   * Records that the node was cordoned or uncordoned since the last call; a kubelet looks with each computation of the
   * status (Kubelet.recordNodeSchedulableEvent).
   */
  observed({spec: {unschedulable = false}}: Node): void {
    if (unschedulable === this.#isUnschedulable) return;
    this.#isUnschedulable = unschedulable;
    this.#record(statusEvent(this.#nodeName, unschedulable ? 'NodeNotSchedulable' : 'NodeSchedulable'));
  }

  #recordConditions(before: NodeStatus, after: NodeStatus): void {
    for (const event of computeConditionEvents(this.#nodeName, before, after)) this.#record(event);
  }
}
