import {createRequire} from 'node:module';
import {dirname, join} from 'node:path';
import type {ServiceDefinition} from '@grpc/grpc-js';
import {loadSync, type Options} from '@grpc/proto-loader';
import type {Brand} from '../../../src/base/brand.js';
import type {IMAGE_METHODS, RUNTIME_METHODS} from '../../../src/cri/gen/services.js';
import type {MessageTypes} from '../../../src/cri/gen/types.js';

/**
 * A CRI message as decoded by proto-loader: the client's types with 64-bit numbers as decimal strings, bytes as Buffer
 * and absent messages as null. The fake uses kcri's types but not its codec, so that each checks the other.
 */
type Wire<T> = T extends bigint
  ? string
  : T extends Uint8Array
    ? Buffer
    : T extends Brand<string, string>
      ? string
      : T extends string | number | boolean
        ? T
        : T extends readonly (infer Item)[]
          ? readonly Wire<Item>[]
          : string extends keyof T
            ? T
            : {
                readonly [Key in keyof T]-?: undefined extends T[Key]
                  ? Wire<Exclude<T[Key], undefined>> | null
                  : Wire<T[Key]>;
              };

/** A message written by a handler. Any field may be omitted, at every depth. */
export type DeepPartial<T> = T extends string | number | boolean | Buffer | null | undefined
  ? T
  : T extends readonly (infer Item)[]
    ? readonly DeepPartial<Item>[]
    : string extends keyof T
      ? T
      : {readonly [Key in keyof T]?: DeepPartial<T[Key]> | undefined};

type Methods = typeof RUNTIME_METHODS & typeof IMAGE_METHODS;
type Method = Methods[keyof Methods];
type MethodOf<Name extends Rpc> = Extract<Method, {rpc: Name}>;

/** Name of an RPC, such as `RunPodSandbox`. */
export type Rpc = Method['rpc'];
export type Message<Name extends keyof MessageTypes> = Wire<MessageTypes[Name]>;
export type RequestOf<Name extends Rpc> = Message<MethodOf<Name>['request']>;
export type ResponseOf<Name extends Rpc> = DeepPartial<Message<MethodOf<Name>['response']>>;

/** Implementation of an RPC. `signal` aborts when the call is cancelled. Throws GrpcStatusError for a gRPC status. */
type Handler<Name extends Rpc> = (
  request: RequestOf<Name>,
  signal: AbortSignal,
) => MethodOf<Name>['stream'] extends true
  ? Iterable<ResponseOf<Name>> | AsyncIterable<ResponseOf<Name>>
  : ResponseOf<Name> | Promise<ResponseOf<Name>>;

export type Handlers = {readonly [Name in Rpc]?: Handler<Name>};

/** A request in proto JSON: snake_case names, without zero values, bytes in base64, 64-bit numbers as strings. */
export type ProtoJson = Readonly<Record<string, unknown>>;

/** A decoded request, for the handler and for the record. */
export interface DecodedRequest {
  readonly request: unknown;
  readonly json: ProtoJson;
}

const SERVICES = ['runtime.v1.RuntimeService', 'runtime.v1.ImageService'] as const;
const HANDLER_FORM: Options = {defaults: true, longs: String, enums: String};
const RECORD_FORM: Options = {keepCase: true, longs: String, enums: String, bytes: String};

let services: readonly ServiceDefinition[] | undefined;

/** Returns the two CRI services for grpc-js, read from proto/ on first use. Requests are DecodedRequests. */
export function criServices(): readonly ServiceDefinition[] {
  services ??= loadServices();
  return services;
}

/** Returns the path of the project's api.proto, independent of where this file was compiled to. */
export function apiProtoPath(): string {
  const require = createRequire(import.meta.url);
  return join(dirname(require.resolve('kcri/package.json')), 'proto/runtime/v1/api.proto');
}

function loadServices(): ServiceDefinition[] {
  const handlerForm = loadSync(apiProtoPath(), HANDLER_FORM);
  const recordForm = loadSync(apiProtoPath(), RECORD_FORM);
  return SERVICES.map((name) => {
    const record = recordForm[name] as ServiceDefinition;
    const methods = Object.entries(handlerForm[name] as ServiceDefinition).map(([rpc, method]) => {
      const requestDeserialize = (bytes: Buffer): DecodedRequest => ({
        request: method.requestDeserialize(bytes),
        json: record[rpc]?.requestDeserialize(bytes) as ProtoJson,
      });
      const responseSerialize = (value: object): Buffer =>
        Buffer.isBuffer(value) ? value : method.responseSerialize(value);
      return [rpc, {...method, requestDeserialize, responseSerialize}] as const;
    });
    return Object.fromEntries(methods);
  });
}
