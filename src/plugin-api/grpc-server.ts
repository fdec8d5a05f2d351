import type {Socket} from 'node:net';
import {
  Server,
  ServerCredentials,
  status,
  type handleUnaryCall,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import {systemClock} from '../base/clock.js';
import {messageOf} from '../base/errors.js';
import {decodeMessage, encodeMessage} from '../cri/codec.js';
import type {ServedCall, ServedService} from './served-service.js';

/** Options of the answers of a server. */
export interface ServerOptions {
  /** Returns whether a call may be answered now; otherwise it ends with RESOURCE_EXHAUSTED. */
  readonly admits?: (() => boolean) | undefined;
}

/** A gRPC server for connections that others accept. */
export interface GrpcServer {
  /** Serves an accepted connection. */
  serve(socket: Socket): void;
  /** Ends all calls. */
  close(): void;
}

/** Creates a server of these services with grpc-js. */
export function createGrpcServer(services: readonly ServedService[], options: ServerOptions): GrpcServer {
  const server = new Server({'grpc.max_send_message_length': -1});
  for (const service of services)
    server.addService(definitionOf(service), implementationOf(service, options));
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  return {
    serve: (socket) => {
      injector.injectConnection(socket);
    },
    close: () => {
      server.forceShutdown();
    },
  };
}

function definitionOf({name, methods, schemas}: ServedService): ServiceDefinition {
  const entries = Object.entries(methods).map(([key, {rpc, request, response}]) => {
    const requests = codecOf(() => schemas.message(request));
    const responses = codecOf(() => schemas.message(response));
    return [
      key,
      {
        path: `/${name}/${rpc}`,
        originalName: key,
        requestStream: false,
        responseStream: false,
        requestSerialize: requests.encode,
        requestDeserialize: requests.decode,
        responseSerialize: responses.encode,
        responseDeserialize: responses.decode,
      },
    ];
  });
  return Object.fromEntries(entries) as ServiceDefinition;
}

type Schema = Parameters<typeof decodeMessage>[0];

function codecOf(schema: () => Schema) {
  return {
    encode: (message: Readonly<Record<string, unknown>>): Buffer => encodeMessage(schema(), message),
    decode: (bytes: Buffer): unknown => decodeMessage(schema(), bytes),
  };
}

function implementationOf({handlers}: ServedService, {admits}: ServerOptions): UntypedServiceImplementation {
  const entries = Object.entries(handlers).map(([key, handler]) => {
    const answer: handleUnaryCall<unknown, object> = (call, callback) => {
      if (admits?.() === false) {
        callback({code: status.RESOURCE_EXHAUSTED, details: 'rejected by rate limit'});
        return;
      }
      const cancelled = new AbortController();
      call.on('cancelled', () => {
        cancelled.abort();
      });
      const served: ServedCall = {signal: cancelled.signal, timeoutMs: timeUntil(call.getDeadline())};
      handler(call.request as never, served).then(
        (response) => {
          callback(null, response);
        },
        (error: unknown) => {
          callback({code: status.UNKNOWN, details: messageOf(error)});
        },
      );
    };
    return [key, answer] as const;
  });
  return Object.fromEntries(entries);
}

function timeUntil(deadline: Date | number): number {
  return Number(deadline) - systemClock.now();
}
