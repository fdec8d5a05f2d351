import type {Node} from '../../../api/types/v1-node.js';
import {omit} from '../../../base/omit.js';
import {reconcileNodeResources} from './node-resources.js';
import {ATTACH_DETACH} from './node-status.js';

/** Labels that the kubelet puts back at its start (updateDefaultLabels). */
const DEFAULT_LABELS = [
  'kubernetes.io/hostname',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'node.kubernetes.io/instance-type',
  'beta.kubernetes.io/instance-type',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'node.kubernetes.io/windows-build',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
] as const;

/**
 * Returns the existing Node with the labels, annotations and resources that the kubelet owns. Other labels of --node-labels
 * only apply when the Node is created (tryRegisterWithAPIServer).
 */
export function reconcileNode(existing: Node, initial: Node, keepsExtended = false): Node {
  const {metadata, status = {}} = existing;
  const managed = initial.metadata.annotations?.[ATTACH_DETACH];
  return {
    ...existing,
    metadata: {
      ...metadata,
      labels: reconcileLabels(metadata.labels, initial.metadata.labels),
      annotations: {
        ...omit(metadata.annotations ?? {}, ATTACH_DETACH),
        ...(managed !== undefined && {[ATTACH_DETACH]: managed}),
      },
    },
    status: {...status, ...reconcileNodeResources(status, initial.status ?? {}, keepsExtended)},
  };
}

type Labels = Readonly<Record<string, string>>;

/** A default label without a value is removed. */
function reconcileLabels(existing: Labels = {}, initial: Labels = {}): Labels {
  const changed = DEFAULT_LABELS.flatMap((name): readonly (readonly [string, string])[] => {
    const value = initial[name];
    return value === undefined || value === (existing[name] ?? '') ? [] : [[name, value]];
  });
  const labels = new Map([...Object.entries(existing), ...changed]);
  for (const [name, value] of changed) if (value === '') labels.delete(name);
  return Object.fromEntries(labels);
}
