import {byKey} from '../../base/compare.js';
import {applyExactPodDefaults} from '../defaults/pod-defaults.js';
import {goJson} from '../container-hash.js';
import type {Pod, PodSpec} from '../types/v1-pod.js';
import type {PodStatus} from '../types/v1-status.js';
import {dumpQuantity, GO_ARITHMETIC} from './go-quantity.js';
import {goType, type GoField, type GoType} from './go-type.js';
import {readGoValue} from './go-value.js';

/** Seconds from the year 1, Go's zero time, to the epoch. */
const SECONDS_TO_EPOCH = 62_135_596_800;

const UTC = '{name:(string)UTC offset:(int)0 isDST:(bool)false}';
const LEAST_INT64 = -(2n ** 63n);
/** The time zone of a machine in UTC; elsewhere a kubelet's UID of a manifest with a time depends on the zone's file. */
const LOCAL_ZONE = [
  `{name:(string)Local zone:([]time.zone)[${UTC}]`,
  `tx:([]time.zoneTrans)[{when:(int64)${LEAST_INT64} index:(uint8)0 isstd:(bool)false isutc:(bool)false}]`,
  `extend:(string)UTC0 cacheStart:(int64)${LEAST_INT64} cacheEnd:(int64)${-LEAST_INT64 - 1n}`,
  `cacheZone:(*time.zone)${UTC}}`,
].join(' ');

const NIL = '<nil>';

/** Prints one value, with the names of types, as Go's spew does for `%#v`. */
class SpewPrinter {
  #depth = 0;
  /**
   * Depth of the last time zone; infinite for none. Times share one, and spew takes a pointer that it has followed at a lower
   * depth for a cycle, unless it has met any other pointer at that depth or a lower one since.
   */
  #zoneDepth = Number.POSITIVE_INFINITY;

  print(type: GoType, value: unknown): string {
    return `(${type.name})${this.#bare(type, value)}`;
  }

  #bare(type: GoType, value: unknown, rounded = false): string {
    switch (type.kind) {
      case 'pointer':
        this.#meetPointer();
        return value === undefined ? NIL : this.#bare(type.element, value);
      case 'slice':
        return this.#slice(type.element, value as readonly unknown[] | undefined);
      case 'map':
        return this.#map(type, value as object | undefined);
      case 'struct':
        return this.#struct(type, (value ?? {}) as Readonly<Record<string, unknown>>);
      case 'quantity':
        return this.#quantity((value ?? '') as string, rounded);
      case 'time':
        return this.#time(value as string | undefined);
      default:
        return dumpLeaf(type.kind, value);
    }
  }

  #nested<T>(print: () => T): T {
    this.#depth += 1;
    const text = print();
    this.#depth -= 1;
    return text;
  }

  #meetPointer(): void {
    if (this.#zoneDepth >= this.#depth) this.#zoneDepth = Number.POSITIVE_INFINITY;
  }

  #slice(element: GoType, items: readonly unknown[] | undefined): string {
    if (items === undefined) return NIL;
    return this.#nested(() => `[${items.map((item) => this.#bare(element, item)).join(' ')}]`);
  }

  /** Prints a map; the amounts of a resource list are rounded (SetDefaults_ResourceList). */
  #map(
    {name, element}: Extract<GoType, {kind: 'map' | 'pointer' | 'slice'}>,
    value: object | undefined,
  ): string {
    if (value === undefined) return NIL;
    const rounded = name === 'core.ResourceList';
    const print = ([key, item]: [string, unknown]): string => `${key}:${this.#bare(element, item, rounded)}`;
    return this.#nested(() => `map[${Object.entries(value).sort(byKey).map(print).join(' ')}]`);
  }

  /** Prints an amount, a struct with another one that has a pointer. */
  #quantity(value: string, rounded: boolean): string {
    this.#nested(() => {
      this.#nested(() => {
        this.#meetPointer();
      });
    });
    return dumpQuantity(value, {rounded});
  }

  #struct({fields}: Extract<GoType, {kind: 'struct'}>, value: Readonly<Record<string, unknown>>): string {
    const print = ({name, jsonName, type}: GoField): string => {
      const member =
        jsonName === undefined ? value : Object.hasOwn(value, jsonName) ? value[jsonName] : undefined;
      return `${name}:${this.print(type, member)}`;
    };
    return this.#nested(() => `{${fields.map(print).join(' ')}}`);
  }

  #time(value: string | undefined): string {
    const zone = this.#nested(() => this.#nested(() => this.#zone(value !== undefined)));
    const seconds = value === undefined ? 0 : Math.floor(Date.parse(value) / 1000) + SECONDS_TO_EPOCH;
    const digits = /\.(\d+)/.exec(value ?? '')?.[1] ?? '';
    const nanos = Number(digits.padEnd(9, '0').slice(0, 9));
    return `{Time:(time.Time){wall:(uint64)${nanos} ext:(int64)${seconds} loc:(*time.Location)${zone}}}`;
  }

  #zone(isLocal: boolean): string {
    this.#meetPointer();
    if (!isLocal) return NIL;
    if (this.#zoneDepth < this.#depth) return '<shown>';
    this.#zoneDepth = this.#depth;
    return LOCAL_ZONE;
  }
}

function dumpLeaf(
  kind: Exclude<GoType['kind'], 'pointer' | 'slice' | 'map' | 'struct' | 'quantity' | 'time'>,
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
    case 'rawJson':
      return `{Raw:([]uint8)[${Buffer.from(goJson(value)).join(' ')}]}`;
    default:
      return kind satisfies never;
  }
}

function dumpIntOrString(value: number | string): string {
  const [type, number, text] = typeof value === 'string' ? [1, 0, value] : [0, value, ''];
  return `{Type:(intstr.Type)${type} IntVal:(int32)${number} StrVal:(string)${text}}`;
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
  return new SpewPrinter().print(goType('*core.Pod'), convertPod(complete));
}
