import {isPartial} from '../../api/manager-annotation.js';
import {canonicalizeQuantity, compareQuantities} from '../../api/quantity.js';
import type {Container, ContainerPort, Pod, Probe} from '../../api/types/v1-pod.js';
import type {ResourceList, ResourceRequirements} from '../../api/types/v1-meta.js';
import type {ContainerState, ContainerStateTerminated, ContainerStatus} from '../../api/types/v1-status.js';
import {goQuote} from '../../format/go-quote.js';
import {formatRfc1123} from '../../format/rfc1123.js';
import {environmentLines} from './describe-environment.js';
import {indentLines, NONE, sortedEntries} from '../../cli/output/views/aligned-lines.js';

/** State of the containers of one kind. */
export interface ContainerStates {
  readonly statuses: readonly ContainerStatus[] | undefined;
  /** Last log lines of failed containers by name. */
  readonly logs: ReadonlyMap<string, readonly string[]>;
}

/** Describes the containers of one kind below their title. */
export function containerSection(
  title: string,
  pod: Pod,
  containers: readonly Container[],
  {statuses = [], logs}: ContainerStates,
): readonly string[] {
  return [
    `${title}:`,
    ...containers.flatMap((container) => {
      const status = statuses.find(({name}) => name === container.name);
      return [
        `  ${container.name}:`,
        ...indentLines(2, containerLines(pod, container, {status, log: logs.get(container.name)})),
      ];
    }),
  ];
}

function containerLines(
  pod: Pod,
  container: Container,
  {
    status,
    log = [],
  }: {readonly status: ContainerStatus | undefined; readonly log?: readonly string[] | undefined},
): readonly string[] {
  const {image, command, args, resources, ports = []} = container;
  return [
    ...(status ? [`Container ID:\t${status.containerID ?? ''}`] : []),
    `Image:\t${image}`,
    ...(status ? [`Image ID:\t${status.imageID}`] : []),
    portLine('Port', ports, ({containerPort}) => containerPort),
    portLine('Host Port', ports, ({hostPort = 0}) => hostPort),
    ...seccompLines(container.securityContext?.seccompProfile, 1),
    ...wordLines('Command', command),
    ...wordLines('Args', args),
    ...(status ? statusLines(status) : []),
    ...(log.length > 0 ? ['Last Log Lines:', ...indentLines(1, log)] : []),
    ...resourceLines(resources),
    ...effectiveLines(resources, status),
    ...probeLines(container),
    ...(isPartial(pod) ? [] : [...environmentLines(pod, container), ...mountLines(container)]),
  ];
}

function portLine(
  title: string,
  ports: readonly ContainerPort[],
  number: (port: ContainerPort) => number,
): string {
  const texts = ports.map((port) => {
    const text = `${number(port)}/${port.protocol ?? 'TCP'}`;
    return port.name === undefined || port.name === '' ? text : `${text} (${port.name})`;
  });
  return `${title}${texts.length > 1 ? 's' : ''}:\t${texts.length === 0 ? NONE : texts.join(', ')}`;
}

/** Describes a seccomp profile; its file is indented by `level`. */
export function seccompLines(
  profile: {readonly type: string; readonly localhostProfile?: string} | undefined,
  level = 0,
): readonly string[] {
  if (profile === undefined) return [];
  const file = profile.type === 'Localhost' ? [`LocalhostProfile:\t${profile.localhostProfile ?? ''}`] : [];
  return [`SeccompProfile:\t${profile.type}`, ...indentLines(level, file)];
}

function wordLines(title: string, words: readonly string[] = []): readonly string[] {
  if (words.length === 0) return [];
  return [
    `${title}:`,
    ...indentLines(
      1,
      words.flatMap((word) => word.split('\n')),
    ),
  ];
}

function statusLines({state = {}, lastState = {}, ready, restartCount}: ContainerStatus): readonly string[] {
  return [
    ...stateLines('State', state),
    ...(lastState.terminated ? stateLines('Last State', lastState) : []),
    `Ready:\t${ready ? 'True' : 'False'}`,
    `Restart Count:\t${restartCount}`,
  ];
}

function stateLines(title: string, {running, waiting, terminated}: ContainerState): readonly string[] {
  if (running !== undefined) return [`${title}:\tRunning`, `  Started:\t${formatRfc1123(running.startedAt)}`];
  if (terminated !== undefined) return [`${title}:\tTerminated`, ...indentLines(1, endLines(terminated))];
  const {reason = ''} = waiting ?? {};
  return [`${title}:\tWaiting`, ...(reason === '' ? [] : [`  Reason:\t${reason}`])];
}

function endLines({
  reason,
  message,
  exitCode,
  signal = 0,
  ...times
}: ContainerStateTerminated): readonly string[] {
  return [
    ...(reason === undefined ? [] : [`Reason:\t${reason}`]),
    ...(message === undefined ? [] : [`Message:\t${message}`]),
    `Exit Code:\t${exitCode}`,
    ...(signal > 0 ? [`Signal:\t${signal}`] : []),
    `Started:\t${formatRfc1123(times.startedAt)}`,
    `Finished:\t${formatRfc1123(times.finishedAt)}`,
  ];
}

/** Describes limits and requests of a pod or container. */
export function resourceLines({limits = {}, requests = {}}: ResourceRequirements = {}): readonly string[] {
  return [...amountLines('Limits', limits), ...amountLines('Requests', requests)];
}

/** Describes limits and requests of the running container that differ from those of the spec. */
function effectiveLines(
  {limits = {}, requests = {}}: ResourceRequirements = {},
  {state, resources}: Partial<ContainerStatus> = {},
): readonly string[] {
  if (state?.running === undefined) return [];
  return [
    ...amountLines('Limits in Effect', differing(resources?.limits, limits)),
    ...amountLines('Requests in Effect', differing(resources?.requests, requests)),
  ];
}

function differing(effective: ResourceList = {}, wanted: ResourceList): ResourceList {
  const different = Object.entries(effective).filter(([name, amount]) => {
    const other = wanted[name];
    return other === undefined || compareQuantities(amount, other) !== 0;
  });
  return Object.fromEntries(different);
}

function amountLines(title: string, amounts: ResourceList): readonly string[] {
  const lines = sortedEntries(amounts).map(([name, amount]) => `  ${name}:\t${canonicalizeQuantity(amount)}`);
  return lines.length === 0 ? [] : [`${title}:`, ...lines];
}

function probeLines({livenessProbe, readinessProbe, startupProbe}: Container): readonly string[] {
  const probes = {Liveness: livenessProbe, Readiness: readinessProbe, Startup: startupProbe};
  return Object.entries(probes).flatMap(([title, probe]) =>
    probe === undefined ? [] : [`${title}:\t${probeText(probe)}`],
  );
}

/** Describes a probe, with the defaults of the API. */
export function probeText(probe: Probe): string {
  const {initialDelaySeconds = 0, timeoutSeconds = 1, periodSeconds = 10} = probe;
  const {successThreshold = 1, failureThreshold = 3} = probe;
  const times = `delay=${initialDelaySeconds}s timeout=${timeoutSeconds}s period=${periodSeconds}s`;
  return `${handlerText(probe)} ${times} #success=${successThreshold} #failure=${failureThreshold}`;
}

function handlerText({exec, httpGet, tcpSocket, grpc}: Probe): string {
  if (exec !== undefined) return `exec [${(exec.command ?? []).join(' ')}]`;
  if (httpGet !== undefined) {
    const {scheme = 'HTTP', host = '', port, path = ''} = httpGet;
    const address = host.includes(':') ? `[${host}]` : host;
    return `http-get ${scheme.toLowerCase()}://${address}:${port}${encodeURI(path).replaceAll('?', '%3F')}`;
  }
  if (tcpSocket !== undefined) return `tcp-socket ${tcpSocket.host ?? ''}:${tcpSocket.port}`;
  return grpc === undefined ? 'unknown' : `grpc <pod>:${grpc.port} ${grpc.service ?? ''}`;
}

function mountLines({volumeMounts = [], volumeDevices = []}: Container): readonly string[] {
  const mounts = volumeMounts
    .toSorted((a, b) => (a.mountPath < b.mountPath ? -1 : 1))
    .map(({mountPath, name, readOnly, subPath = ''}) => {
      const part = subPath === '' ? '' : `,path=${goQuote(subPath)}`;
      return `  ${mountPath} from ${name} (${readOnly === true ? 'ro' : 'rw'}${part})`;
    });
  const devices = volumeDevices.map(({devicePath, name}) => `  ${devicePath} from ${name}`);
  return [
    mounts.length === 0 ? `Mounts:\t${NONE}` : 'Mounts:',
    ...mounts,
    ...(devices.length === 0 ? [] : ['Devices:', ...devices]),
  ];
}
