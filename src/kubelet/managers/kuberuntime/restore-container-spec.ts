import {Decoder} from '../../../api/decoding/decoder.js';
import {FieldPath} from '../../../api/field-path.js';
import type {ManifestNode} from '../../../api/decoding/manifest-node.js';
import type {ScalarValue} from '../../../api/decoding/plain-scalar.js';
import {container as containerSchema} from '../../../api/types/v1-pod.js';
import type {Container} from '../../../api/types/v1-pod.js';
import type {RuntimeContainerStatus} from '../../contract/runtime-pod-status.js';
import {CONTAINER_ANNOTATIONS} from './config/labels.js';

/**
 * Restores the parts of a container spec that are needed to kill the container (preStop hook and ports) from its
 * annotations, for when the pod is no longer known (restoreSpecsFromContainerLabels). Invalid annotations are ignored.
 */
export function restoreContainerSpec({name, cri}: RuntimeContainerStatus): Container {
  const preStop = readJson(cri.annotations[CONTAINER_ANNOTATIONS.preStopHandler]);
  const ports = readJson(cri.annotations[CONTAINER_ANNOTATIONS.ports]);
  const decoder = new Decoder();
  const fields = {...(ports !== undefined && {ports}), ...(preStop !== undefined && {lifecycle: {preStop}})};
  const decoded = decoder.decode(containerSchema, toManifestNode(fields), new FieldPath());
  const isValid = decoder.problems.length === 0;
  return {...(isValid && decoded), name, image: cri.image?.image ?? ''};
}

/** Returns the termination grace period of the container's pod in seconds, if its annotations have a valid one. */
export function restoreGracePeriodSeconds({cri}: RuntimeContainerStatus): number | undefined {
  const {deletionGracePeriod, terminationGracePeriod} = CONTAINER_ANNOTATIONS;
  const text = cri.annotations[deletionGracePeriod] ?? cri.annotations[terminationGracePeriod] ?? '';
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

function readJson(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Converts a JSON value to the input of the manifest decoder. */
function toManifestNode(value: unknown): ManifestNode {
  const offset = 0;
  if (Array.isArray(value)) return {kind: 'list', items: value.map(toManifestNode), offset};
  if (typeof value !== 'object' || value === null)
    return {kind: 'scalar', value: value as ScalarValue, source: String(value), offset};
  const entries = Object.entries(value).map(
    ([key, item]) => [key, {keyOffset: offset, value: toManifestNode(item)}] as const,
  );
  return {kind: 'map', entries: new Map(entries), offset, end: offset};
}
