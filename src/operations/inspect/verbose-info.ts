import {parseJson, type Json, type JsonObject} from '../../format/json.js';

/**
 * Runtime-specific `info` of a verbose response. The forms of containerd and CRI-O are read, whose keys differ in case
 * and underscores; missing values are undefined or empty.
 */
export type VerboseInfo = Readonly<Record<string, string>>;

/** Process configuration of a container. */
export interface ContainerInfo {
  /** PID on the node; undefined if the container does not run. */
  readonly pid: number | undefined;
  readonly command: readonly string[];
  readonly env: readonly string[];
  readonly workingDir: string;
  readonly cgroup: string;
  /** ID of the container's sandbox. */
  readonly sandboxId: string;
  /** `namespace/name` of its pod, which the runtime knows without kubelet labels; empty if unknown. */
  readonly pod: string;
}

/** Network and process of a sandbox. */
export interface SandboxInfo {
  readonly pid: number | undefined;
  readonly hostname: string;
  readonly logDirectory: string;
  readonly cgroup: string;
  readonly ports: readonly ForwardedPort[];
}

/** A pod port that the node forwards. */
export interface ForwardedPort {
  readonly hostIp: string;
  readonly hostPort: number;
  readonly containerPort: number;
  readonly protocol: string;
}

/** Build information of an image. */
export interface ImageInfo {
  /** Build time in milliseconds since the epoch; undefined if unknown. */
  readonly createdAtMs: number | undefined;
  readonly platform: string;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly env: readonly string[];
  readonly workingDir: string;
  readonly ports: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  /** Digests of the unpacked layers (diff IDs), the lowest first; empty if unknown. */
  readonly layers: readonly string[];
}

/** Reads the `info` of a container. */
export function parseContainerInfo(info: VerboseInfo): ContainerInfo {
  const facts = factsOf(info);
  const process = at(facts, 'runtimeSpec', 'process');
  return {
    pid: pidOf(facts),
    command: texts(at(process, 'args')),
    env: texts(at(process, 'env')),
    workingDir: text(at(process, 'cwd')),
    sandboxId: text(at(facts, 'sandboxID')),
    pod: podOf(objectOf(at(facts, 'runtimeSpec', 'annotations'))),
    cgroup: text(at(facts, 'runtimeSpec', 'linux', 'cgroupsPath')),
  };
}

/** Annotations that containerd and CRI-O add to a process. */
const POD_ANNOTATIONS = [
  ['io.kubernetes.cri.sandbox-namespace', 'io.kubernetes.cri.sandbox-name'],
  ['io.kubernetes.pod.namespace', 'io.kubernetes.pod.name'],
] as const;

function podOf(annotations: JsonObject): string {
  const known = POD_ANNOTATIONS.find(([, name]) => annotations[name] !== undefined);
  return known === undefined ? '' : known.map((key) => text(annotations[key])).join('/');
}

/** Reads the `info` of a sandbox. */
export function parseSandboxInfo(info: VerboseInfo): SandboxInfo {
  const facts = factsOf(info);
  const config = at(facts, 'config');
  return {
    pid: pidOf(facts),
    hostname: text(at(config, 'hostname')) || text(at(facts, 'runtimeSpec', 'hostname')),
    logDirectory: text(at(config, 'log_directory')),
    cgroup: text(at(facts, 'runtimeSpec', 'linux', 'cgroupsPath')),
    ports: portsOf(at(config, 'port_mappings') ?? crioPorts(facts)),
  };
}

/** Reads the `info` of an image. */
export function parseImageInfo(info: VerboseInfo): ImageInfo {
  const spec = at(factsOf(info), 'imageSpec');
  const config = at(spec, 'config');
  const createdAtMs = Date.parse(text(at(spec, 'created')));
  return {
    // Reproducible builds set 1 January 1970 or the year 1.
    createdAtMs: createdAtMs > 0 ? createdAtMs : undefined,
    platform: [at(spec, 'os'), at(spec, 'architecture'), at(spec, 'variant')]
      .map(text)
      .filter(Boolean)
      .join('/'),
    entrypoint: texts(at(config, 'Entrypoint')),
    command: texts(at(config, 'Cmd')),
    env: texts(at(config, 'Env')),
    workingDir: text(at(config, 'WorkingDir')),
    ports: Object.keys(objectOf(at(config, 'ExposedPorts'))),
    labels: Object.fromEntries(
      Object.entries(objectOf(at(config, 'Labels'))).map(([key, value]) => [key, text(value)]),
    ),
    layers: texts(at(spec, 'rootfs', 'diffIds')),
  };
}

const CONTAINER_PORTS = 'io.kubernetes.container.ports';
const RESTART_COUNT = 'io.kubernetes.container.restartCount';

/** Returns the forwarded ports of a container from the kubelet's annotation, undefined without one. */
export function portsFromAnnotations(annotations: VerboseInfo): readonly ForwardedPort[] | undefined {
  const annotation = annotations[CONTAINER_PORTS];
  return annotation === undefined ? undefined : portsOf(parsed(annotation));
}

/** Returns the restart count that the kubelet set, undefined without one. */
export function restartCountFromAnnotations(annotations: VerboseInfo): number | undefined {
  return number(annotations[RESTART_COUNT]);
}

/** Host ports of a sandbox: JSON of Go's structure without tags (internal/hostport PortMapping). */
const CRIO_PORTS = 'io.kubernetes.cri-o.PortMappings';

function crioPorts(facts: Json): Json | undefined {
  const annotation = at(facts, 'runtimeSpec', 'annotations', CRIO_PORTS);
  return annotation === undefined ? undefined : parsed(text(annotation));
}

function portsOf(list: Json | undefined): readonly ForwardedPort[] {
  return (Array.isArray(list) ? (list as readonly Json[]) : []).flatMap((port) => {
    const [hostPort = 0, containerPort = 0] = [at(port, 'host_port'), at(port, 'container_port')].map(number);
    const protocol = PROTOCOLS[text(at(port, 'protocol')) || '0'] ?? text(at(port, 'protocol'));
    return hostPort > 0 ? [{hostIp: text(at(port, 'host_ip')), hostPort, containerPort, protocol}] : [];
  });
}

/** Protocols by their number in the CRI. */
const PROTOCOLS: Readonly<Record<string, string>> = {0: 'TCP', 1: 'UDP', 2: 'SCTP'};

function pidOf(facts: Json): number | undefined {
  const pid = number(at(facts, 'pid'));
  return pid === 0 ? undefined : pid;
}

/** Returns the parsed `info` entry: containerd and CRI-O use a single JSON object, containerd also for images. */
export function factsOf(info: Readonly<Record<string, string>>): Json {
  return parsed(info['info'] ?? '');
}

/** Returns parsed JSON, null for invalid JSON. */
export function parsed(json: string): Json {
  try {
    return parseJson(json);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Returns the value at a path, whose keys may be in snake_case, camelCase or PascalCase, with `IP` for `Ip`. */
export function at(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>((parent, key) => {
    const object = objectOf(parent);
    if (object[key] !== undefined) return object[key];
    const same = Object.keys(object).find((other) => foldKey(other) === foldKey(key));
    return same === undefined ? undefined : object[same];
  }, value);
}

function foldKey(key: string): string {
  return key.replaceAll('_', '').toLowerCase();
}

/** Returns an object, empty for any other value. */
export function objectOf(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

/** Returns a text or number as text, empty for any other value. */
export function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
}

/** Returns a list of texts, empty for any other value. */
export function texts(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? (value as readonly Json[]).map(text) : [];
}

/** Returns a number, also from text; undefined for any other value. */
export function number(value: Json | undefined): number | undefined {
  const parsedNumber = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof parsedNumber === 'number' && Number.isFinite(parsedNumber) ? parsedNumber : undefined;
}
