import type {X509Certificate} from 'node:crypto';
import {isIP} from 'node:net';
import type {Node} from '../../../api/types/v1-node.js';

/** Purpose of a certificate: the signer, and the contents of the request. */
export interface CertificatePurpose {
  readonly signerName: 'kubernetes.io/kube-apiserver-client-kubelet' | 'kubernetes.io/kubelet-serving';
  readonly usages: readonly string[];
  /** The node is the subject. */
  readonly nodeName: string;
  /** DNS names and IP addresses of a server. */
  readonly names: readonly string[];
}

/** Organization of all nodes. */
export const NODES_ORGANIZATION = 'system:nodes';

/** Returns the common name of a node. */
export function commonNameOf(nodeName: string): string {
  return `system:node:${nodeName}`;
}

/** Returns the purpose of the node's client certificate. */
export function clientPurpose(nodeName: string): CertificatePurpose {
  return {
    signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
    usages: ['digital signature', 'client auth'],
    nodeName,
    names: [],
  };
}

/** Returns the purpose of the certificate of the kubelet's server. */
export function servingPurpose(nodeName: string, names: readonly string[]): CertificatePurpose {
  return {
    signerName: 'kubernetes.io/kubelet-serving',
    usages: ['digital signature', 'server auth'],
    nodeName,
    names,
  };
}

/**
 * Returns the DNS names and IP addresses of a Node, in a stable order; undefined while it has no IP address
 * (addressesToHostnamesAndIPs).
 */
export function servingNames(node: Node | undefined): readonly string[] | undefined {
  const addresses = (node?.status?.addresses ?? []).filter(({address}) => address !== '');
  const ips = addresses.flatMap(({type, address}) =>
    isIP(address) === 0 || type.endsWith('DNS') ? [] : [address],
  );
  const dnsNames = addresses.flatMap(({type, address}) =>
    type.endsWith('DNS') || (type === 'Hostname' && isIP(address) === 0) ? [address] : [],
  );
  return ips.length === 0 ? undefined : [...new Set([...dnsNames.toSorted(), ...ips.toSorted()])];
}

/** Reports whether a certificate has the subject and all names of a purpose; it may have more (certSatisfiesTemplate). */
export function satisfiesPurpose(
  certificate: X509Certificate,
  {nodeName, names}: CertificatePurpose,
): boolean {
  const subject = certificate.subject.split('\n');
  const expected = [`CN=${commonNameOf(nodeName)}`, `O=${NODES_ORGANIZATION}`];
  return (
    expected.every((part) => subject.includes(part)) && names.every((name) => hasName(certificate, name))
  );
}

function hasName(certificate: X509Certificate, name: string): boolean {
  return isIP(name) === 0
    ? certificate.checkHost(name, {subject: 'never', wildcards: false}) !== undefined
    : certificate.checkIP(name) !== undefined;
}
