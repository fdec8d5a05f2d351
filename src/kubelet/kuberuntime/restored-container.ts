import {Decoder} from '../../api/decode.js';
import {FieldPath} from '../../api/field-path.js';
import type {ManifestNode} from '../../api/manifest-tree.js';
import type {ScalarValue} from '../../api/scalar.js';
import {container as containerSchema} from '../../api/schema-pod.js';
import type {Container} from '../../api/v1.js';
import type {RuntimeContainerStatus} from '../container/pod-status.js';
import {CONTAINER_ANNOTATIONS} from './labels.js';

/**
 * What must be known of a container to end it, from its annotations alone: its manifest is gone
 * (restoreSpecsFromContainerLabels). Annotations that somebody else has spoilt tell nothing.
 */
export function restoredContainer({name, cri}: RuntimeContainerStatus): Container {
  const preStop = readJson(cri.annotations[CONTAINER_ANNOTATIONS.preStopHandler]);
  const ports = readJson(cri.annotations[CONTAINER_ANNOTATIONS.ports]);
  const decoder = new Decoder();
  const known = {...(ports !== undefined && {ports}), ...(preStop !== undefined && {lifecycle: {preStop}})};
  const decoded = decoder.decode(containerSchema, nodeOf(known), new FieldPath());
  const isSound = decoder.problems.length === 0;
  return {...(isSound && decoded), name, image: cri.image?.image ?? ''};
}

/** The seconds that the container's pod gave it to end, if its annotations tell. */
export function restoredGracePeriod({cri}: RuntimeContainerStatus): number | undefined {
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

/** A value of JSON as the decoder takes it. */
function nodeOf(value: unknown): ManifestNode {
  const offset = 0;
  if (Array.isArray(value)) return {kind: 'list', items: value.map(nodeOf), offset};
  if (typeof value !== 'object' || value === null)
    return {kind: 'scalar', value: value as ScalarValue, source: String(value), offset};
  const entries = Object.entries(value).map(
    ([key, item]) => [key, {keyOffset: offset, value: nodeOf(item)}] as const,
  );
  return {kind: 'map', entries: new Map(entries), offset, end: offset};
}
