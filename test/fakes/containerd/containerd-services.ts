import {createRequire} from 'node:module';
import {dirname, join} from 'node:path';
import {
  status,
  type handleBidiStreamingCall,
  type ServerWritableStream,
  type ServiceDefinition,
} from '@grpc/grpc-js';
import {loadSync} from '@grpc/proto-loader';
import {toGrpcStatusError} from '../runtime/grpc-status-error.js';
import type {ServedService} from '../runtime/socket-server.js';

/** A message as proto-loader decodes it: 64-bit numbers are decimal strings, absent messages null. */
export type Plain = Readonly<Record<string, unknown>>;

/** Handler of an RPC: returns the response, or a list of messages for a stream. */
type Handler = (request: Plain, metadata: Plain) => object | readonly object[] | Promise<object>;

/** Handler of an RPC with a stream of requests: returns the response to one of them. */
type DuplexHandler = (request: Plain, metadata: Plain) => object;

/** Handlers of containerd's services, by `Images.Get` and so on. */
export type ContainerdHandlers = Readonly<Record<string, Handler | DuplexHandler>>;

const SERVICES = [
  ...['images', 'content', 'snapshots', 'leases', 'containers', 'diff', 'introspection'],
  'tasks',
];

/** Returns containerd's services for a server, read from proto/containerd. RPCs without a handler are UNIMPLEMENTED. */
export function containerdServices(handlers: ContainerdHandlers): readonly ServedService[] {
  const require = createRequire(import.meta.url);
  const directory = join(dirname(require.resolve('kcri/package.json')), 'proto/containerd');
  const loaded = loadSync(
    SERVICES.map((name) => `${name}.proto`),
    {includeDirs: [directory], defaults: true, longs: String, enums: String},
  );
  return SERVICES.map((service) => {
    const type = service.charAt(0).toUpperCase() + service.slice(1);
    const definition = loaded[`containerd.services.${service}.v1.${type}`] as ServiceDefinition;
    return {definition, implementation: implementation(type, definition, handlers)};
  });
}

function implementation(type: string, definition: ServiceDefinition, handlers: ContainerdHandlers) {
  const methods = Object.entries(definition).flatMap(([rpc, {requestStream, responseStream}]) => {
    const handler = handlers[`${type}.${rpc}`];
    if (handler === undefined) return [];
    const method = requestStream ? duplex(handler) : responseStream ? stream(handler) : unary(handler);
    return [[rpc, method] as const];
  });
  return Object.fromEntries(methods);
}

interface Call {
  readonly request: Plain;
  readonly metadata: {getMap(): Plain};
}

function unary(handler: Handler) {
  return async (call: Call, callback: (error: object | null, response?: object) => void): Promise<void> => {
    try {
      callback(null, await handler(call.request, call.metadata.getMap()));
    } catch (error) {
      callback(statusOf(error));
    }
  };
}

function stream(handler: Handler) {
  return async (call: ServerWritableStream<Plain, object>): Promise<void> => {
    try {
      for (const message of (await handler(call.request, call.metadata.getMap())) as readonly object[])
        call.write(message);
      call.end();
    } catch (error) {
      call.emit('error', statusOf(error));
    }
  };
}

function duplex(handler: DuplexHandler): handleBidiStreamingCall<Plain, object> {
  return (call) => {
    let failed = false;
    call.on('data', (request: Plain) => {
      if (failed) return;
      try {
        call.write(handler(request, call.metadata.getMap()));
      } catch (error) {
        failed = true;
        call.emit('error', statusOf(error));
      }
    });
    call.on('end', () => {
      if (!failed) call.end();
    });
  };
}

function statusOf(error: unknown): {code: number; details: string} {
  const {code, message} = toGrpcStatusError(error);
  return {code: status[code], details: message};
}
