import type {RequestOptions} from 'node:https';
import type {Node} from '../../../src/api/types/v1-node.js';
import type {ObjectStorage, StoredObject} from './object-storage.js';

/** Certificate with which the API server identifies itself to kubelets (--kubelet-client-certificate). */
export interface KubeletClientCertificate {
  readonly certificate: string;
  readonly key: string;
}

/** Returns the options of a request to the kubelet of a node; undefined if the node has not reported its address. */
export function kubeletEndpoint(
  storage: ObjectStorage,
  nodeName: string,
  {certificate, key}: KubeletClientCertificate,
): RequestOptions | undefined {
  const {status} = nodeOf(storage, nodeName) ?? {};
  const host = status?.addresses?.find(({type}) => type === 'InternalIP')?.address;
  const port = status?.daemonEndpoints?.kubeletEndpoint.Port;
  if (host === undefined || port === undefined) return undefined;
  // The certificates of kubelets are not verified, as without --kubelet-certificate-authority.
  return {host, port, cert: certificate, key, rejectUnauthorized: false, agent: false};
}

/** Reports whether the kubelet of a node accepts WebSockets (ExtendWebSocketsToKubelet). */
export function acceptsWebSockets(storage: ObjectStorage, nodeName: string): boolean {
  const features = nodeOf(storage, nodeName)?.status?.declaredFeatures ?? [];
  return features.includes('ExtendWebSocketsToKubelet');
}

/** Name of the node of a pod; empty if it is not bound. */
export function nodeNameOf(pod: StoredObject): string {
  return (pod['spec'] as {readonly nodeName?: string}).nodeName ?? '';
}

function nodeOf(storage: ObjectStorage, nodeName: string): Node | undefined {
  return storage.get(`/api/v1/nodes/${nodeName}`) as Node | undefined;
}
