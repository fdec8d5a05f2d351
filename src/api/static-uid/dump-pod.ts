import {byKey} from '../../base/compare.js';
import {applyExactPodDefaults} from '../defaults/pod-defaults.js';
import {goJson} from '../container-hash.js';
import type {Pod, PodSpec} from '../types/v1-pod.js';
import type {PodStatus} from '../types/v1-status.js';
import {dumpQuantity, GO_ARITHMETIC} from './go-quantity.js';
import {goType, type GoType} from './go-type.js';
import {readGoValue} from './go-value.js';

/** Prints a value with the name of its type, as Go's spew does for `%#v`. */
function dump(type: GoType, value: unknown): string {
  return `(${type.name})${dumpBare(type, value)}`;
}

function dumpBare(type: GoType, value: unknown, rounded = false): string {
  switch (type.kind) {
    case 'pointer':
      return value === undefined ? '<nil>' : dumpBare(type.element, value);
    case 'slice':
      return value === undefined ? '<nil>' : dumpSlice(type.element, value as readonly unknown[]);
    case 'map':
      return value === undefined ? '<nil>' : dumpMap(type, value as object);
    case 'struct':
      return dumpStruct(type, (value ?? {}) as Readonly<Record<string, unknown>>);
    case 'quantity':
      return dumpQuantity((value ?? '') as string, {rounded});
    default:
      return dumpLeaf(type.kind, value);
  }
}

function dumpLeaf(
  kind: Exclude<GoType['kind'], 'pointer' | 'slice' | 'map' | 'struct' | 'quantity'>,
  value: unknown,
): string {
  switch (kind) {
    case 'bool':
      return JSON.stringify(value ?? false);
    case 'integer':
      return JSON.stringify(value ?? 0);
    case 'string':
      return (value ?? '') as string;
    case 'intOrString':
      return dumpIntOrString((value ?? 0) as number | string);
    case 'time':
      return dumpTime(value as string | undefined);
    case 'rawJson':
      return `{Raw:([]uint8)[${Buffer.from(goJson(value)).join(' ')}]}`;
    default:
      return kind satisfies never;
  }
}

function dumpSlice(element: GoType, items: readonly unknown[]): string {
  return `[${items.map((item) => dumpBare(element, item)).join(' ')}]`;
}

/** Prints a map; the amounts of a resource list are rounded (SetDefaults_ResourceList). */
function dumpMap(
  {name, element}: Extract<GoType, {kind: 'map' | 'pointer' | 'slice'}>,
  value: object,
): string {
  const entries = Object.entries(value).sort(byKey);
  const rounded = name === 'core.ResourceList';
  return `map[${entries.map(([key, item]) => `${key}:${dumpBare(element, item, rounded)}`).join(' ')}]`;
}

function dumpStruct(
  {fields}: Extract<GoType, {kind: 'struct'}>,
  value: Readonly<Record<string, unknown>>,
): string {
  const members = fields.map(({name, jsonName, type}) => {
    const member =
      jsonName === undefined ? value : Object.hasOwn(value, jsonName) ? value[jsonName] : undefined;
    return `${name}:${dump(type, member)}`;
  });
  return `{${members.join(' ')}}`;
}

function dumpIntOrString(value: number | string): string {
  const [type, number, text] = typeof value === 'string' ? [1, 0, value] : [0, value, ''];
  return `{Type:(intstr.Type)${type} IntVal:(int32)${number} StrVal:(string)${text}}`;
}

/** Seconds from the year 1, Go's zero time, to the epoch. */
const SECONDS_TO_EPOCH = 62_135_596_800;

const UTC = '{name:(string)UTC offset:(int)0 isDST:(bool)false}';
const LEAST_INT64 = -(2n ** 63n);
/** The time zone of a machine in UTC; elsewhere a kubelet's UID of a manifest with a time depends on the zone's file. */
const LOCAL_ZONE = [
  `(*time.Location){name:(string)Local zone:([]time.zone)[${UTC}]`,
  `tx:([]time.zoneTrans)[{when:(int64)${LEAST_INT64} index:(uint8)0 isstd:(bool)false isutc:(bool)false}]`,
  `extend:(string)UTC0 cacheStart:(int64)${LEAST_INT64} cacheEnd:(int64)${-LEAST_INT64 - 1n}`,
  `cacheZone:(*time.zone)${UTC}}`,
].join(' ');

function dumpTime(value: string | undefined): string {
  if (value === undefined) return dumpInstant(0, 0, '(*time.Location)<nil>');
  const seconds = Math.floor(Date.parse(value) / 1000) + SECONDS_TO_EPOCH;
  const digits = /\.(\d+)/.exec(value)?.[1] ?? '';
  return dumpInstant(seconds, Number(digits.padEnd(9, '0').slice(0, 9)), LOCAL_ZONE);
}

function dumpInstant(seconds: number, nanos: number, zone: string): string {
  return `{Time:(time.Time){wall:(uint64)${nanos} ext:(int64)${seconds} loc:${zone}}}`;
}

/** Annotations that a kubelet drops. */
const DROPPED_ANNOTATION = /^pod\.(alpha|beta)\.kubernetes\.io\/init-container(s|-statuses)$/;

function withoutDropped(annotations: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(annotations).filter(([name]) => !DROPPED_ANNOTATION.test(name)));
}

/** Returns the addresses of a status; `podIP` wins (Convert_v1_PodStatus_To_core_PodStatus). */
function podIpsOf({podIP, podIPs = []}: PodStatus): Pick<PodStatus, 'podIPs'> {
  return podIP === undefined || podIP === '' || podIP === podIPs[0]?.ip ? {} : {podIPs: [{ip: podIP}]};
}

/** Returns the Pod with fields where a kubelet has them internally (Convert_v1_Pod_To_core_Pod). */
function convertPod({metadata, spec, status = {}}: Pod): object {
  const {hostNetwork, hostPID, hostIPC, shareProcessNamespace, hostUsers} = spec;
  const host = {hostNetwork, hostPID, hostIPC, shareProcessNamespace, hostUsers};
  const {annotations} = metadata;
  return {
    metadata: {...metadata, ...(annotations && {annotations: withoutDropped(annotations)})},
    spec: {...spec, securityContext: {...spec.securityContext, ...host}},
    status: {...status, ...podIpsOf(status)},
  };
}

/**
 * Returns the text that a kubelet hashes into the UID of a static pod (hash.DeepHashObject): a print of the decoded and
 * defaulted Pod, with Go's types. `manifest` is the JSON of the manifest.
 */
export function dumpPod(manifest: unknown): string {
  const type = goType('core.Pod');
  const {spec, ...pod} = readGoValue(type, manifest) as Omit<Pod, 'spec'> & {readonly spec: Partial<PodSpec>};
  // Pods without containers are hashed before they are rejected.
  const complete = applyExactPodDefaults({...pod, spec: {containers: [], ...spec}}, GO_ARITHMETIC);
  return `(*${type.name})${dumpBare(type, convertPod(complete))}`;
}
