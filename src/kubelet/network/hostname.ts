import type {Pod} from '../../api/v1.js';
import type {NodeFacts} from '../container/node.js';
import {podRef} from '../container/pod-ref.js';

/** What a host name may be long, in characters: the kernel keeps 64 with what ends it. */
const MAX_HOSTNAME = 63;

/** A pod's host name and the domain below which it is known, empty without a subdomain. */
export interface PodHostname {
  readonly hostname: string;
  readonly domain: string;
}

/**
 * The pod's name in its own /etc/hosts (Kubelet.GeneratePodHostNameAndDomain): hostnameOverride, hostname or the
 * pod's name, cut to what the kernel takes.
 */
export function podHostname(pod: Pod, {clusterDomain}: Pick<NodeFacts, 'clusterDomain'>): PodHostname {
  const {hostname = '', hostnameOverride = '', subdomain = ''} = pod.spec;
  const {name, namespace} = podRef(pod);
  if (hostnameOverride !== '') return {hostname: cut(hostnameOverride), domain: ''};
  return {
    hostname: cut(hostname === '' ? name : hostname),
    domain: subdomain === '' ? '' : `${subdomain}.${namespace}.svc.${clusterDomain}`,
  };
}

function cut(name: string): string {
  return name.length <= MAX_HOSTNAME ? name : name.slice(0, MAX_HOSTNAME).replace(/[-.]+$/, '');
}
