/** Client of the Kubernetes API server. */
export type {ApiClient} from './api-client.js';
export {
  ApiError,
  isAlreadyExists,
  isConflict,
  isForbidden,
  isNamespaceTerminating,
  isNotFound,
} from './api-error.js';
export {
  connectApiServer,
  readClusterAccess,
  type ApiServer,
  type ConnectApiServerOptions,
} from './connect-api-server.js';
export {openCredentials, type FileCredentials} from './kubeconfig/credentials.js';
export {Informer} from './informer.js';
export type {ListedObject, ListerWatcher} from './list-watch.js';
export type {RequestObserver} from './request-observer.js';
export {Reflector} from './reflector.js';
export {createCollection, type CollectionOptions} from './resource.js';
export {createMergePatch} from './strategic-merge-patch.js';
