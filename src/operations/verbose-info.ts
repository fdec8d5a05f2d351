import {parseJson, type Json, type JsonObject} from '../format/json.js';

/**
 * What runtimes tell beyond the CRI in the `info` of a verbose answer. Each has its own form: containerd's and
 * CRI-O's are read, with keys in snake_case or camelCase, and what is not there is undefined or empty.
 */
export type Info = Readonly<Record<string, string>>;

/** A container's process as it was set up. */
export interface ContainerFacts {
  /** On the machine; undefined when it doesn't run. */
  readonly pid: number | undefined;
  readonly command: readonly string[];
  readonly env: readonly string[];
  readonly workingDir: string;
  readonly cgroup: string;
  /** The sandbox that it is in. */
  readonly sandboxId: string;
  /** `namespace/name` of its pod, which the runtime knows without a kubelet too; else empty. */
  readonly pod: string;
}

/** A sandbox's network and process. */
export interface SandboxFacts {
  readonly pid: number | undefined;
  readonly hostname: string;
  readonly logDirectory: string;
  readonly cgroup: string;
  readonly ports: readonly PortFact[];
}

/** A port of a pod that the node forwards. */
export interface PortFact {
  readonly hostIp: string;
  readonly hostPort: number;
  readonly containerPort: number;
  readonly protocol: string;
}

/** How an image was built. */
export interface ImageFacts {
  /** Milliseconds since the epoch; undefined when the image does not say. */
  readonly createdAtMs: number | undefined;
  readonly platform: string;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly env: readonly string[];
  readonly workingDir: string;
  readonly ports: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

/** What `info` says of a container. */
export function containerFacts(info: Info): ContainerFacts {
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

/** The annotations that containerd and CRI-O give a process. */
const POD_ANNOTATIONS = [
  ['io.kubernetes.cri.sandbox-namespace', 'io.kubernetes.cri.sandbox-name'],
  ['io.kubernetes.pod.namespace', 'io.kubernetes.pod.name'],
] as const;

function podOf(annotations: JsonObject): string {
  const known = POD_ANNOTATIONS.find(([, name]) => annotations[name] !== undefined);
  return known === undefined ? '' : known.map((key) => text(annotations[key])).join('/');
}

/** What `info` says of a sandbox. */
export function sandboxFacts(info: Info): SandboxFacts {
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

/** What `info` says of an image. */
export function imageFacts(info: Info): ImageFacts {
  const spec = at(factsOf(info), 'imageSpec');
  const config = at(spec, 'config');
  const createdAtMs = Date.parse(text(at(spec, 'created')));
  return {
    // Images that are built to be the same each time say 1 January 1970, or 1 of year 1.
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
  };
}

const CONTAINER_PORTS = 'io.kubernetes.container.ports';
const RESTART_COUNT = 'io.kubernetes.container.restartCount';

/** The ports of a container that the node forwards, as the kubelet's annotation says; undefined without one. */
export function annotatedPorts(annotations: Info): readonly PortFact[] | undefined {
  const annotation = annotations[CONTAINER_PORTS];
  return annotation === undefined ? undefined : portsOf(parsed(annotation));
}

/** How often the kubelet has restarted a container; undefined for a container that none started. */
export function annotatedRestarts(annotations: Info): number | undefined {
  return number(annotations[RESTART_COUNT]);
}

const CRIO_PORTS = 'io.kubernetes.cri-o.PortMappings';

function crioPorts(facts: Json): Json | undefined {
  const annotation = at(facts, 'runtimeSpec', 'annotations', CRIO_PORTS);
  return annotation === undefined ? undefined : parsed(text(annotation));
}

function portsOf(list: Json | undefined): readonly PortFact[] {
  return (Array.isArray(list) ? (list as readonly Json[]) : []).flatMap((port) => {
    const [hostPort = 0, containerPort = 0] = [at(port, 'host_port'), at(port, 'container_port')].map(number);
    const protocol = PROTOCOLS[text(at(port, 'protocol')) || '0'] ?? text(at(port, 'protocol'));
    return hostPort > 0 ? [{hostIp: text(at(port, 'host_ip')), hostPort, containerPort, protocol}] : [];
  });
}

/** As the CRI numbers them. */
const PROTOCOLS: Readonly<Record<string, string>> = {0: 'TCP', 1: 'UDP', 2: 'SCTP'};

function pidOf(facts: Json): number | undefined {
  const pid = number(at(facts, 'pid'));
  return pid === 0 ? undefined : pid;
}

/** containerd and CRI-O put one JSON object under `info`; containerd gives an image's facts there too. */
function factsOf(info: Info): Json {
  return parsed(info['info'] ?? '');
}

function parsed(json: string): Json {
  try {
    return parseJson(json);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** What is at a path, whose keys may be in snake_case or in camelCase. */
function at(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>((place, key) => {
    const object = objectOf(place);
    return object[key] ?? object[camelCase(key)];
  }, value);
}

function camelCase(key: string): string {
  return key.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function objectOf(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
}

function texts(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? (value as readonly Json[]).map(text) : [];
}

function number(value: Json | undefined): number | undefined {
  const parsedNumber = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof parsedNumber === 'number' && Number.isFinite(parsedNumber) ? parsedNumber : undefined;
}
