import {goJson} from '../../../api/container-hash.js';
import {decodeWithSchema} from '../../../api/json/decode-api-object.js';
import {canonicalizeQuantity} from '../../../api/quantity.js';
import {
  resourceRequirements,
  type ResourceList,
  type ResourceRequirements,
} from '../../../api/types/v1-meta.js';
import {SystemError} from '../../../base/errors.js';
import {isObject} from '../../../base/is-object.js';
import {parseJsonObject} from '../../../base/parse-json-object.js';
import {podUid, type PodUid} from '../../../cri/index.js';
import type {PodAllocation} from '../../contract/resources/actuated-resources.js';
import {checksumOf, readCheckpointFile} from '../../resources/checkpoint/checkpoint.js';
import {goJsonMap, goString} from '../../resources/checkpoint/go-type.js';

/** Resources of pods by UID, as a kubelet stores them (state.PodResourceInfoMap). */
export type PodResourceMap = ReadonlyMap<PodUid, PodAllocation>;

/** Content of a checkpoint file. */
export interface StoredCheckpoint {
  readonly resources: PodResourceMap;
  /** The file's text; undefined without a file. */
  readonly text?: string;
  /** Reason why the content cannot be used; `resources` is then empty. */
  readonly problem?: SystemError;
}

/**
 * Reads a checkpoint of a kubelet; it has no resources if the file does not exist or its content is invalid. Rejects with
 * SystemError if it cannot be read.
 */
export async function readPodResourceCheckpoint(path: string): Promise<StoredCheckpoint> {
  const text = await readCheckpointFile(path);
  if (text === undefined) return {resources: new Map()};
  const resources = parsePodResourceCheckpoint(text);
  if (resources !== undefined) return {resources, text};
  return {resources: new Map(), text, problem: new SystemError(`checkpoint "${path}" is corrupted`)};
}

/** Returns the resources in the text of a checkpoint; undefined if it is not one, or if its checksum is wrong. */
export function parsePodResourceCheckpoint(text: string): PodResourceMap | undefined {
  const {data, checksum} = parseJsonObject(text);
  if (typeof data !== 'string' || checksum !== checksumOf(TEXT, data)) return undefined;
  const {entries} = parseJsonObject(data);
  return new Map(
    Object.entries(isObject(entries) ? entries : {}).map(([uid, entry]) => [
      podUid(uid),
      toAllocation(entry),
    ]),
  );
}

/** Returns the text of a checkpoint, byte by byte as a kubelet writes it (state.NewCheckpoint). */
export function formatPodResourceCheckpoint(resources: PodResourceMap): string {
  const data = resources.size === 0 ? '{}' : `{"entries":${goJsonMap(resources, entryOf)}}`;
  return `{"data":${goJson(data)},"checksum":${checksumOf(TEXT, data)}}`;
}

/** The resources are a text inside the checkpoint. */
const TEXT = goString();

function toAllocation(entry: unknown): PodAllocation {
  const {ContainerResources: containers, PodLevelResources: pod} = isObject(entry) ? entry : {};
  return {
    pod: isObject(pod) ? decodeWithSchema(resourceRequirements, pod) : undefined,
    containers: new Map(
      Object.entries(isObject(containers) ? containers : {}).map(([name, resources]) => [
        name,
        decodeWithSchema(resourceRequirements, resources),
      ]),
    ),
  };
}

/** Texts of allocations: a checkpoint is written much more often than the resources of one pod change. */
const texts = new WeakMap<PodAllocation, string>();

function entryOf(allocation: PodAllocation): string {
  const known = texts.get(allocation);
  if (known !== undefined) return known;
  const {pod, containers} = allocation;
  const text = `{"ContainerResources":${goJsonMap(containers, resourcesOf)},"PodLevelResources":${pod === undefined ? 'null' : resourcesOf(pod)}}`;
  texts.set(allocation, text);
  return text;
}

function resourcesOf({limits, requests, claims = []}: ResourceRequirements): string {
  const fields = [
    ...listOf('limits', limits),
    ...listOf('requests', requests),
    ...(claims.length === 0 ? [] : [`"claims":${goJson(claims)}`]),
  ];
  return `{${fields.join(',')}}`;
}

function listOf(name: string, list: ResourceList = {}): readonly string[] {
  const quantities = Object.entries(list);
  return quantities.length === 0
    ? []
    : [`"${name}":${goJsonMap(quantities, (quantity) => goJson(canonicalizeQuantity(quantity)))}`];
}
