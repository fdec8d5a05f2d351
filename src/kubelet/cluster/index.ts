/** The door to the part of the kubelet that joins a cluster; loaded only with --kubeconfig. */
export {connectApiServer, type ApiServer} from '../../kube-api/index.js';
export {ApiAccessReviews} from './auth/api-access-reviews.js';
export {joinCluster, type JoinedCluster} from './join-cluster.js';
