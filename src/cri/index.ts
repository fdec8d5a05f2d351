/** The public API of kcri's typed CRI client: `import {connect} from 'kcri'` (docs/library.md). */
export {connect, type ConnectOptions, type Connection} from './connect.js';
export type {CallOptions, Init} from './call-options.js';
export type {FieldMask} from './message-schema.js';
export type {CallObserver, CallWatch, ObservedCall} from './call-observer.js';
export {CriError, isNotFound, isUnavailable, isUnimplemented, type GrpcCode} from './errors.js';
export {withDialFailure} from './transport.js';
export {WELL_KNOWN_ENDPOINTS, socketPath} from './endpoint.js';
export {DEFAULT_TIMEOUT_MS} from './deadlines.js';
export * from './ids.js';
export {LineView, parseLine, type LogLine, type LogStream} from './log-line.js';
export {messageJsonSchema} from './json-schema.js';
export {fromJson, toJson, type FromJsonOptions, type ToJsonOptions} from './proto-json.js';
export type {ImageService, RuntimeService} from './gen/services.js';
export type * from './gen/types.js';
