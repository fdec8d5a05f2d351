/** The public interface of the part of the kubelet that joins a cluster; loaded only where a Node object is needed. */
export {connectApiServer, type ApiServer, type ConnectApiServerOptions} from '../../kube-api/index.js';
export {ApiAccessReviews} from './auth/api-access-reviews.js';
export {bootstrapKubeconfig, prepareKubeconfig} from './certificates/bootstrap-kubeconfig.js';
export {
  clientCertificateStore,
  openNodeCertificates,
  type NodeCertificates,
} from './certificates/node-certificates.js';
export {readLocalNode} from './node/read-local-node.js';
export {joinCluster, type JoinedCluster} from './join-cluster.js';
export type {ChangeDetectionStrategy} from './objects/change-detection.js';
export {readClusterPods, type ClusterPods} from './pods/read-cluster-pods.js';
