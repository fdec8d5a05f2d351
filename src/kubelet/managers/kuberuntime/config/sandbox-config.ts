import {normalizeSysctlName} from '../../../../api/sysctl.js';
import type {Pod} from '../../../../api/types/v1-pod.js';
import type {PodSecurityContext} from '../../../../api/types/v1-security.js';
import type {Init, LinuxPodSandboxConfig, PodSandboxConfig} from '../../../../cri/index.js';
import {podLogsDirectory, type NodeFacts} from '../../../contract/node-facts.js';
import {podRef} from '../../../contract/pod-ref.js';
import {podDns, type HostDns} from '../../network/pod-dns.js';
import {podHostname} from '../../network/pod-hostname.js';
import {makePortMappings} from '../../network/port-mappings.js';
import {PodSandboxConfigError} from './config-errors.js';
import {sandboxLabels} from './labels.js';
import {linuxOverheadResources, linuxSandboxResources} from './resources/linux-resources.js';
import {podCgroupParent} from '../../../resources/pod-cgroup-parent.js';
import {sandboxSecurityContext, type SandboxContext} from './security-context.js';

/** Maximum length of the kernel's host name. */
const MAX_FQDN_LENGTH = 64;

/**
 * Returns the CRI configuration of a pod's sandbox (kuberuntime generatePodSandboxConfig). The pod must come from
 * toLocalPod or toStaticPod.
 *
 * @throws PodSandboxConfigError if the pod's fully qualified host name is too long.
 */
export function generatePodSandboxConfig(
  pod: Pod,
  node: NodeFacts & HostDns,
  attempt: number,
  context: SandboxContext = {},
): Init<PodSandboxConfig> {
  const ref = podRef(pod);
  return {
    metadata: {name: ref.name, uid: ref.uid, namespace: ref.namespace, attempt},
    hostname: pod.spec.hostNetwork === true ? '' : kernelHostname(pod, node),
    logDirectory: podLogsDirectory(node, ref),
    dnsConfig: podDns(pod, node).config,
    portMappings: makePortMappings(pod),
    labels: sandboxLabels(pod),
    annotations: pod.metadata.annotations ?? {},
    linux: linuxConfig(pod, node, context),
  };
}

/** Returns the name that `hostname` prints in the pod (util.GetNodenameForKernel). */
function kernelHostname(pod: Pod, node: NodeFacts): string {
  const {hostname, domain} = podHostname(pod, node);
  if (domain === '' || pod.spec.setHostnameAsFQDN !== true) return hostname;
  const fqdn = `${hostname}.${domain}`;
  if (fqdn.length > MAX_FQDN_LENGTH)
    throw new PodSandboxConfigError(
      `failed to construct FQDN from pod hostname and cluster domain, FQDN ${fqdn} is too long (${MAX_FQDN_LENGTH} characters is the max, ${fqdn.length} characters requested)`,
      {hint: 'shorten spec.hostname or spec.subdomain, or remove spec.setHostnameAsFQDN'},
    );
  return fqdn;
}

/** Returns the Linux part of the configuration (generatePodSandboxLinuxConfig). */
function linuxConfig(pod: Pod, node: NodeFacts, context: SandboxContext): Init<LinuxPodSandboxConfig> {
  return {
    cgroupParent: podCgroupParent(pod, node.cgroup),
    securityContext: sandboxSecurityContext(pod, context),
    sysctls: sysctls(pod.spec.securityContext),
    overhead: linuxOverheadResources(pod, node),
    resources: linuxSandboxResources(pod, node),
  };
}

/**
 * Returns the sysctls by name with dots as separators, which runtimes require
 * (sysctl.ConvertPodSysctlsVariableToDotsSeparator).
 */
function sysctls({sysctls = []}: PodSecurityContext = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(sysctls.map(({name, value}) => [normalizeSysctlName(name), value]));
}
