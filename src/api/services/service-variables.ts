import {joinHostPort} from '../../base/net/join-host-port.js';

/** Port of a Service. */
export interface ServicePort {
  readonly name?: string;
  readonly protocol?: string;
  readonly port: number;
  /** Port in the values of the variables; `port` by default. */
  readonly reachedAt?: number;
}

/** Service of a cluster, as far as environment variables depend on it. */
export interface Service {
  readonly metadata: {
    readonly name?: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
  };
  readonly spec?: {readonly clusterIP?: string; readonly ports?: readonly ServicePort[]};
}

/** Namespace and name of the Service of the API server, which every container gets (masterServices). */
const API_SERVER = {namespace: 'default', name: 'kubernetes'} as const;

/**
 * Returns the variables of Services for the containers of a pod (getServiceEnvVarMap): those of the API server and, with
 * service links, of all Services in the namespace of the pod.
 */
export function computeServiceVariables(
  services: readonly Service[],
  {namespace, serviceLinks}: {readonly namespace: string; readonly serviceLinks: boolean},
): ReadonlyMap<string, string> {
  const isApiServer = ({metadata}: Service): boolean =>
    metadata.namespace === API_SERVER.namespace && metadata.name === API_SERVER.name;
  const isLinked = (service: Service): boolean => serviceLinks && service.metadata.namespace === namespace;
  // A Service `kubernetes` in the namespace of the pod replaces that of the API server.
  const chosen = [...services.filter(isApiServer), ...services.filter(isLinked)];
  return new Map(chosen.flatMap((service) => [...variablesOf(service)]));
}

/** Returns the variables of one Service (envvars.FromServices); none if it has no cluster IP. */
function* variablesOf({metadata, spec = {}}: Service): Generator<readonly [string, string]> {
  const {clusterIP: ip = '', ports = []} = spec;
  const [first] = ports;
  if (ip === '' || ip === 'None' || first === undefined) return;
  const prefix = toVariableName(metadata.name ?? '');
  yield [`${prefix}_SERVICE_HOST`, ip];
  yield [`${prefix}_SERVICE_PORT`, String(reachedPort(first))];
  for (const port of ports) {
    const {name = ''} = port;
    if (name !== '') yield [`${prefix}_SERVICE_PORT_${toVariableName(name)}`, String(reachedPort(port))];
  }
  yield* linkVariablesOf(prefix, ip, [first, ...ports.slice(1)]);
}

/** Returns the variables of the ports in the form of Docker links (envvars.makeLinkVariables). */
function* linkVariablesOf(
  prefix: string,
  ip: string,
  ports: readonly [ServicePort, ...ServicePort[]],
): Generator<readonly [string, string]> {
  const urlOf = (port: ServicePort): string =>
    `${(port.protocol ?? 'TCP').toLowerCase()}://${joinHostPort({host: ip, port: reachedPort(port)})}`;
  yield [`${prefix}_PORT`, urlOf(ports[0])];
  for (const port of ports) {
    const {protocol = 'TCP'} = port;
    const link = `${prefix}_PORT_${port.port}_${protocol.toUpperCase()}`;
    yield [link, urlOf(port)];
    yield [`${link}_PROTO`, protocol.toLowerCase()];
    yield [`${link}_PORT`, String(reachedPort(port))];
    yield [`${link}_ADDR`, ip];
  }
}

function reachedPort({port, reachedAt = port}: ServicePort): number {
  return reachedAt;
}

function toVariableName(name: string): string {
  return name.replaceAll('-', '_').toUpperCase();
}
