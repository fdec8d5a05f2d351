import {isIP} from 'node:net';
import type {HostAlias} from '../types/v1-pod.js';
import type {Service} from '../types/v1-services.js';
import {endpointsOf, isHeadless, selectsPod, type ServicePod} from './service-endpoints.js';

/** Pods that Services may select, and the domain of their names. */
export interface HostsContext {
  readonly pods: readonly ServicePod[];
  readonly clusterDomain: string;
}

/** Domain of names if the node has none. */
const DEFAULT_DOMAIN = 'cluster.local';

/**
 * Returns the entries of Services for the hosts files of the pods of a namespace: their names with the addresses of their endpoints, and
 * for headless Services the names of their pods with this subdomain.
 */
export function serviceHosts(
  services: readonly Service[],
  namespace: string,
  context: HostsContext,
): readonly HostAlias[] {
  return services.flatMap((service) => [
    ...serviceAliases(service, namespace, context),
    ...(isHeadless(service) ? podAliases(service, namespace, context) : []),
  ]);
}

function serviceAliases(service: Service, from: string, context: HostsContext): readonly HostAlias[] {
  const hostnames = namesOf(service, from, context);
  return addressesOf(service, context.pods).map((ip) => ({ip, hostnames}));
}

function addressesOf(service: Service, pods: readonly ServicePod[]): readonly string[] {
  const {type, externalName = ''} = service.spec;
  if (type === 'ExternalName') return isIP(externalName) === 0 ? [] : [externalName];
  return endpointsOf(service, pods).flatMap(({ips}) => ips);
}

/** Returns the names of the pods of a headless Service, each with the pod's own addresses. */
function podAliases(service: Service, from: string, context: HostsContext): readonly HostAlias[] {
  const named = context.pods.filter(
    ({pod, hasEnded}) =>
      !hasEnded && selectsPod(service, pod) && pod.spec.subdomain === service.metadata.name,
  );
  return named.flatMap(({pod, ips}) => {
    const {hostname = ''} = pod.spec;
    const hostnames = namesOf(service, from, context).map((name) => `${hostname}.${name}`);
    return hostname === '' ? [] : ips.map((ip) => ({ip, hostnames}));
  });
}

/** Returns the names of a Service, longest first; its short name resolves only in its own namespace. */
function namesOf(
  {metadata: {name = '', namespace = 'default'}}: Service,
  from: string,
  {clusterDomain}: HostsContext,
): readonly string[] {
  const domain = clusterDomain === '' ? DEFAULT_DOMAIN : clusterDomain;
  const full = `${name}.${namespace}`;
  return [`${full}.svc.${domain}`, `${full}.svc`, full, ...(from === namespace ? [name] : [])];
}
