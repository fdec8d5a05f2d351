import type {Pod} from '../../../api/types/v1-pod.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import {podRef} from '../../contract/pod-ref.js';

/** Maximum length of a host name: the kernel's 64 bytes without the terminator. */
const MAX_HOSTNAME_LENGTH = 63;

/** Host name and domain of a pod; the domain is empty without a subdomain. */
export interface PodHostname {
  readonly hostname: string;
  readonly domain: string;
}

/**
 * Returns the host name of a pod (Kubelet.GeneratePodHostNameAndDomain): hostnameOverride, hostname or the pod's name,
 * truncated to the kernel's limit.
 */
export function podHostname(pod: Pod, {clusterDomain}: Pick<NodeFacts, 'clusterDomain'>): PodHostname {
  const {hostname = '', hostnameOverride = '', subdomain = ''} = pod.spec;
  const {name, namespace} = podRef(pod);
  if (hostnameOverride !== '') return {hostname: truncate(hostnameOverride), domain: ''};
  return {
    hostname: truncate(hostname === '' ? name : hostname),
    domain: subdomain === '' ? '' : `${subdomain}.${namespace}.svc.${clusterDomain}`,
  };
}

function truncate(name: string): string {
  return name.length <= MAX_HOSTNAME_LENGTH ? name : name.slice(0, MAX_HOSTNAME_LENGTH).replace(/[-.]+$/, '');
}
