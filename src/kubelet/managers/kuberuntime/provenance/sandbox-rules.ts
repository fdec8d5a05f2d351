import {makePortMappings} from '../../network/port-mappings.js';
import {
  isStaticPod,
  CONFIG_MIRROR_ANNOTATION,
  CONFIG_SEEN_ANNOTATION,
  CONFIG_SOURCE_ANNOTATION,
} from '../../../sources/static-pod.js';
import {POD_NAMESPACE_LABEL, POD_NAME_LABEL, POD_UID_LABEL} from '../config/labels.js';
import {because, type Named, type PathSegment, type Provenance} from './provenance.js';
import {OVERHEAD_RESOURCES, SANDBOX_RESOURCES, qosClass} from './resource-rules.js';
import type {RuleTree} from './rule-tree.js';
import type {PodScope} from './scope.js';
import {SANDBOX_SECURITY} from './security-rules.js';

/** Labels that identify a pod, with the fields of its metadata. */
export const IDENTITY_LABELS: Readonly<Record<string, string>> = {
  [POD_NAME_LABEL]: 'name',
  [POD_NAMESPACE_LABEL]: 'namespace',
  [POD_UID_LABEL]: 'uid',
};

const ADDED_ANNOTATIONS: Readonly<Record<string, string>> = {
  'kubernetes.io/config.hash': 'hash of the manifest and its origin, by the kubelet',
  [CONFIG_SEEN_ANNOTATION]: 'time at which the kubelet first saw the manifest',
  [CONFIG_SOURCE_ANNOTATION]: 'source of the pod, by the kubelet',
  [CONFIG_MIRROR_ANNOTATION]: 'hash of the static pod that the mirror pod represents',
};

/** Rules of PodSandboxConfig. */
export const SANDBOX_CONFIG: RuleTree<PodScope> = {
  metadata: {
    name: (scope) => because`${scope.field('metadata', 'name')}${nameOfStaticPod(scope)}`,
    uid: (scope) => because`${scope.field('metadata', 'uid')}`,
    namespace: (scope) => because`${scope.field('metadata', 'namespace')}`,
    attempt: (scope, {value}) => because`${scope.run('earlier sandboxes of the pod', value)}`,
  },
  hostname: (scope) => hostname(scope),
  log_directory: (scope) =>
    because`${scope.setting('podLogsDir', scope.node.podLogsDir)}, and ${scope.identity()}`,
  dns_config: {
    servers: (scope) => dns(scope, 'nameservers'),
    searches: (scope) => dns(scope, 'searches'),
    options: (scope) => dns(scope, 'options'),
  },
  port_mappings: (scope, {below}) => portMapping(scope, below),
  labels: (scope, {below: [key]}) => label(scope, String(key)),
  annotations: (scope, {below: [key]}) => annotation(scope, String(key)),
  linux: {
    cgroup_parent: (scope) => cgroupParent(scope),
    security_context: SANDBOX_SECURITY,
    sysctls: (scope) => because`${scope.field('spec', 'securityContext', 'sysctls')}`,
    overhead: OVERHEAD_RESOURCES,
    resources: SANDBOX_RESOURCES,
  },
};

function nameOfStaticPod(scope: PodScope): Provenance | string {
  if (!isStaticPod(scope.pod)) return '';
  return because`, which for a static pod ends with ${scope.fact('nodeName', scope.node.nodeName)}`;
}

function hostname(scope: PodScope): Provenance {
  const {
    hostname: own = '',
    hostnameOverride = '',
    subdomain = '',
    setHostnameAsFQDN = false,
  } = scope.pod.spec;
  if (hostnameOverride !== '') return because`${scope.field('spec', 'hostnameOverride')}`;
  const name = own === '' ? scope.field('metadata', 'name') : scope.field('spec', 'hostname');
  if (!setHostnameAsFQDN || subdomain === '') return because`${name}`;
  const domain = [scope.field('spec', 'subdomain'), scope.field('metadata', 'namespace')];
  return because`${name} with ${domain} and ${scope.setting('clusterDomain', scope.node.clusterDomain)}, since ${scope.field('spec', 'setHostnameAsFQDN')}`;
}

type DnsList = 'nameservers' | 'searches' | 'options';

/** Names the inputs of a list in resolv.conf, by the pod's DNS policy. */
function dns(scope: PodScope, list: DnsList): Provenance {
  const {dnsPolicy = 'ClusterFirst', hostNetwork = false, dnsConfig} = scope.pod.spec;
  const policy = [
    scope.field('spec', 'dnsPolicy'),
    ...(dnsPolicy === 'ClusterFirst' ? [scope.field('spec', 'hostNetwork')] : []),
  ];
  const isClusterFirst =
    dnsPolicy === 'ClusterFirstWithHostNet' || (dnsPolicy === 'ClusterFirst' && !hostNetwork);
  const own = dnsConfig?.[list] === undefined ? '' : because`, and ${scope.field('spec', 'dnsConfig', list)}`;
  if (dnsPolicy === 'None') return because`${policy}${own}`;
  const {clusterDns} = scope.node;
  if (isClusterFirst && clusterDns.length > 0) return because`${ofCluster(scope, list)} with ${policy}${own}`;
  const host = scope.fact('resolv.conf of the host');
  const missing = isClusterFirst ? because`, since ${scope.setting('clusterDNS')} is not set` : '';
  return because`${host} with ${policy}${missing}${own}`;
}

function ofCluster(scope: PodScope, list: DnsList): Provenance {
  const {clusterDns, clusterDomain} = scope.node;
  const servers = scope.setting('clusterDNS', [...clusterDns]);
  if (list === 'nameservers') return because`${servers}`;
  if (list === 'options') return because`${scope.rule("the kubelet's option for cluster DNS")}, ${servers}`;
  const host = scope.fact('resolv.conf of the host');
  return because`${scope.setting('clusterDomain', clusterDomain)} for ${scope.field('metadata', 'namespace')}, and ${host}`;
}

const PORT_FIELDS: Readonly<Record<string, string>> = {
  protocol: 'protocol',
  container_port: 'containerPort',
  host_port: 'hostPort',
  host_ip: 'hostIP',
};

/** Names the port of a container that a mapping was made of. */
function portMapping(scope: PodScope, [index, field]: readonly PathSegment[]): Provenance | undefined {
  const mapping = makePortMappings(scope.pod)[Number(index)];
  const name = PORT_FIELDS[String(field)];
  if (mapping === undefined || name === undefined) return undefined;
  for (const [at, {name: container, ports = []}] of scope.pod.spec.containers.entries()) {
    const port = ports.findIndex(
      ({protocol = 'TCP', containerPort, hostPort = 0, hostIP = ''}) =>
        protocol === mapping.protocol &&
        containerPort === mapping.containerPort &&
        hostPort === mapping.hostPort &&
        hostIP === mapping.hostIp,
    );
    if (port === -1) continue;
    const source: Named = scope.field('spec', 'containers', at, 'ports', port, name);
    return because`ports[${port}].${{...source, text: source.text.replace(/^.*\]\./, '')}} of container ${container}`;
  }
  return undefined;
}

function label(scope: PodScope, key: string): Provenance {
  const identity = IDENTITY_LABELS[key];
  return identity === undefined
    ? because`${scope.field('metadata', 'labels', key)}`
    : because`${scope.field('metadata', identity)}, by which the kubelet finds the pod`;
}

/** Names the annotation of the pod, or what the kubelet's own annotation says. */
export function annotation(scope: PodScope, key: string): Provenance {
  const field = scope.field('metadata', 'annotations', key);
  const added = ADDED_ANNOTATIONS[key];
  return added === undefined ? because`${field}` : because`${{...field, text: added}}`;
}

function cgroupParent(scope: PodScope): Provenance {
  const {driver, root} = scope.node.cgroup;
  const where = root === '' ? [] : [scope.setting('cgroupRoot', root)];
  return because`${qosClass(scope)}, ${scope.field('metadata', 'uid')}, ${[scope.setting('cgroupDriver', driver), ...where]}`;
}
