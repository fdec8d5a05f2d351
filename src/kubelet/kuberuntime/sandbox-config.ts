import {dottedSysctl} from '../../api/sysctl.js';
import type {Pod} from '../../api/v1.js';
import type {PodSecurityContext} from '../../api/v1-security.js';
import type {Init, LinuxPodSandboxConfig, PodSandboxConfig} from '../../cri/index.js';
import {podLogsDirectory, type NodeFacts} from '../container/node.js';
import type {IdMapping} from '../container/pod-filesystem.js';
import {podRef} from '../container/pod-ref.js';
import {podDns} from '../network/dns.js';
import {podHostname} from '../network/hostname.js';
import {portMappings} from '../network/port-mappings.js';
import {PodSandboxConfigError} from './config-errors.js';
import {sandboxLabels} from './labels.js';
import {overheadResources, sandboxResources} from './linux-resources.js';
import {podCgroupParent} from './pod-cgroup.js';
import {sandboxSecurityContext} from './security-context.js';

/** What a fully qualified name may be long to be the kernel's node name. */
const MAX_FQDN = 64;

/**
 * What the runtime is told of a pod's sandbox (kuberuntime generatePodSandboxConfig). The pod went through
 * toLocalPod or toStaticPod; `userNamespace` are its ids when they aren't the node's.
 *
 * @throws PodSandboxConfigError when the pod's full host name doesn't fit.
 */
export function sandboxConfig(
  pod: Pod,
  node: NodeFacts,
  attempt: number,
  userNamespace?: IdMapping,
): Init<PodSandboxConfig> {
  const ref = podRef(pod);
  return {
    metadata: {name: ref.name, uid: ref.uid, namespace: ref.namespace, attempt},
    hostname: pod.spec.hostNetwork === true ? '' : kernelHostname(pod, node),
    logDirectory: podLogsDirectory(node, ref),
    dnsConfig: podDns(pod, node).config,
    portMappings: portMappings(pod),
    labels: sandboxLabels(pod),
    annotations: pod.metadata.annotations ?? {},
    linux: linuxConfig(pod, node, userNamespace),
  };
}

/** The name that `hostname` prints in the pod (util.GetNodenameForKernel). */
function kernelHostname(pod: Pod, node: NodeFacts): string {
  const {hostname, domain} = podHostname(pod, node);
  if (domain === '' || pod.spec.setHostnameAsFQDN !== true) return hostname;
  const fqdn = `${hostname}.${domain}`;
  if (fqdn.length > MAX_FQDN)
    throw new PodSandboxConfigError(
      `failed to construct FQDN from pod hostname and cluster domain, FQDN ${fqdn} is too long (${MAX_FQDN} characters is the max, ${fqdn.length} characters requested)`,
      {hint: 'shorten spec.hostname or spec.subdomain, or leave out spec.setHostnameAsFQDN'},
    );
  return fqdn;
}

/** generatePodSandboxLinuxConfig */
function linuxConfig(
  pod: Pod,
  {cgroup}: NodeFacts,
  userNamespace: IdMapping | undefined,
): Init<LinuxPodSandboxConfig> {
  return {
    cgroupParent: podCgroupParent(pod, cgroup),
    securityContext: sandboxSecurityContext(pod, userNamespace),
    sysctls: sysctls(pod.spec.securityContext),
    overhead: overheadResources(pod, cgroup),
    resources: sandboxResources(pod, cgroup),
  };
}

/** Names with dots, since runtimes know no other form (sysctl.ConvertPodSysctlsVariableToDotsSeparator). */
function sysctls({sysctls = []}: PodSecurityContext = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(sysctls.map(({name, value}) => [dottedSysctl(name), value]));
}
