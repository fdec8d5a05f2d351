import type {ServerResponse} from 'node:http';
import type {RecordedRequest} from './api-request.js';
import type {ObjectStorage} from './object-storage.js';
import type {ResourcePath} from './resource-path.js';

/** A request with what it names and the server's objects. */
export interface ApiCall {
  readonly request: RecordedRequest;
  readonly target: ResourcePath;
  readonly storage: ObjectStorage;
  readonly response: ServerResponse;
}

/** Answers a request. */
export type Handler = (call: ApiCall) => void | Promise<void>;

/** Handlers by method and resource, as in `POST serviceaccounts/token` and `GET pods.metrics.k8s.io`. */
export type Handlers = Readonly<Record<string, Handler>>;
