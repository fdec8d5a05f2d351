import type {ObjectMeta} from '../types/v1-meta.js';
import type {Pod, PodSpec} from '../types/v1-pod.js';
import type {PodTemplateSpec} from '../types/v1-workloads.js';
import {uidOf} from './generated-names.js';

/** Object whose controller creates pods. */
export interface PodOwner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

/** Differences between a pod and its template. */
export interface PodIdentity {
  readonly name: string;
  readonly generateName?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
}

/** Returns the pod that a controller creates from a template (GetPodFromTemplate), with the owner as controller. */
export function createPod(
  {metadata = {}, spec}: PodTemplateSpec,
  owner: PodOwner,
  identity: PodIdentity,
  change: (spec: PodSpec) => PodSpec = (same) => same,
): Pod {
  const {name, generateName} = identity;
  const annotations = {...metadata.annotations, ...identity.annotations};
  const finalizers = [...(metadata.finalizers ?? []), ...(identity.finalizers ?? [])];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      ...(generateName !== undefined && {generateName}),
      namespace: owner.metadata.namespace ?? 'default',
      labels: {...metadata.labels, ...identity.labels},
      ...(Object.keys(annotations).length > 0 && {annotations}),
      ownerReferences: [
        {
          apiVersion: owner.apiVersion,
          kind: owner.kind,
          name: owner.metadata.name ?? '',
          uid: uidOf(owner.kind, owner.metadata),
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      ...(finalizers.length > 0 && {finalizers}),
    },
    spec: change(spec),
  };
}
