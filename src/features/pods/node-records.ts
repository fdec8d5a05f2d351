import {canonicalEndpoint} from '../../cri/endpoint.js';
import type {PodRecord, RejectedPod} from '../../kubelet/index.js';
import type {ConnectionContext, SettingsContext} from '../../cli/command/contexts.js';

/** Records of kcri about the pods of a node. */
export interface NodeRecords {
  readonly rejected: readonly RejectedPod[];
  readonly records: readonly PodRecord[];
  /** Records of deleted pods. */
  readonly removed: readonly {readonly uid: string}[];
  /** Records that cannot be read. */
  readonly broken: readonly {readonly uid: string; readonly error: Error}[];
}

const NONE: NodeRecords = {rejected: [], records: [], removed: [], broken: []};

/**
 * Reads the records of this machine's root directory that belong to the node of a command: none if it is remote; of one
 * of several nodes, those of its runtime. Rejects with SystemError.
 */
export async function readNodeRecords(services: ConnectionContext & SettingsContext): Promise<NodeRecords> {
  const {isPart, settings} = services;
  if ((await settings.remoteEndpoint()) !== undefined) return NONE;
  const {PodStore, RejectedPodStore} = await import('../../kubelet/index.js');
  const rejected = await new RejectedPodStore(settings.rootDir).list();
  const {records, removed, broken} = await new PodStore(settings.rootDir).list();
  if (!isPart) return {rejected, records, removed, broken};
  const own = await canonicalEndpoint(await services.connections.endpoint());
  const isOwn = ({endpoint}: PodRecord): boolean => endpoint === own;
  return {rejected: rejected.filter(isOwn), records: records.filter(isOwn), removed, broken};
}
