/** The public interface of the part of the kubelet that joins a cluster; loaded only where a Node object is needed. */
export {connectApiServer, type ApiServer} from '../../kube-api/index.js';
export {ApiAccessReviews} from './auth/api-access-reviews.js';
export {readLocalNode} from './node/read-local-node.js';
export {joinCluster, type JoinedCluster} from './join-cluster.js';
