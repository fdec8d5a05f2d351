import type {NodeEvent} from '../../contract/cluster/node-event.js';
import type {PodEvent} from '../../contract/pod-event.js';
import type {ClaimEvent, ResizedClaim} from '../../contract/volumes/resized-claim.js';
import {podRef} from '../../contract/pod-ref.js';

/** Reference of an event to its object (core/v1 ObjectReference). */
export interface ObjectReference {
  readonly apiVersion: 'v1';
  readonly kind: 'Node' | 'PersistentVolumeClaim' | 'Pod';
  readonly name: string;
  /** Absent for a Node, whose events are in the namespace default. */
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion?: string;
  /** Path of a container in its pod. */
  readonly fieldPath?: string;
}

/** An event about an object of the API server. */
export interface ObjectEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  readonly object: ObjectReference;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Converts an event about a pod. */
export function eventAboutPod({type, reason, message, pod, fieldPath, annotations}: PodEvent): ObjectEvent {
  const {uid, namespace, name} = podRef(pod);
  const {resourceVersion} = pod.metadata;
  const object: ObjectReference = {
    ...{apiVersion: 'v1', kind: 'Pod', namespace, name, uid},
    ...(resourceVersion !== undefined && {resourceVersion}),
    ...(fieldPath !== undefined && {fieldPath}),
  };
  return {type, reason, message, object, ...(annotations && {annotations})};
}

/**
 * Converts an event about a node. The UID is the name of the node, which `kubectl describe node` looks for. Kubelet
 * 1.36 sends none, and the command does not show its events.
 */
export function eventAboutNode(nodeName: string, {type, reason, message}: NodeEvent): ObjectEvent {
  const object: ObjectReference = {apiVersion: 'v1', kind: 'Node', name: nodeName, uid: nodeName};
  return {type, reason, message, object};
}

/** Converts an event about a claim. */
export function eventAboutClaim({metadata}: ResizedClaim, event: ClaimEvent): ObjectEvent {
  const {namespace, name, uid, resourceVersion} = metadata;
  const kind = 'PersistentVolumeClaim';
  return {...event, object: {apiVersion: 'v1', kind, namespace, name, uid, resourceVersion}};
}
