import type {Client, Metadata, ServiceError} from '@grpc/grpc-js';
import {systemClock} from '../base/clock.js';
import {messageOf} from '../base/errors.js';
import {CriError, grpcCodeOf, type GrpcCode} from './errors.js';
import {Reader, WIRE, Writer} from './wire.js';

/** What a server says of a service (grpc.health.v1 HealthCheckResponse.ServingStatus); others are told by number. */
const SERVING_STATUSES = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'] as const;

/** How a health check came out. */
export type Health =
  | {readonly kind: 'answered'; readonly status: string}
  /** There was no gRPC connection in time. */
  | {readonly kind: 'no connection'}
  | {readonly kind: 'failed'; readonly error: CriError};

/** What is asked of whom. */
export interface HealthRequest {
  /** `host:port`, an IPv6 address in brackets. */
  readonly address: string;
  /** Empty for the server as a whole. */
  readonly service: string;
  /** For the connection and the call together. */
  readonly timeoutMs: number;
  readonly userAgent: string;
}

const METHOD = 'Check';
const STATUS_FIELD = 1;
/** Field 1, length-delimited. */
const SERVICE_TAG = (1 << 3) | WIRE.bytes;

const identity = (bytes: Buffer): Buffer => bytes;

/**
 * Asks a server for its health over plain HTTP/2, as grpc_health_probe does (grpc.health.v1.Health/Check). Rejects
 * only with the signal's reason.
 */
export async function checkHealth(request: HealthRequest, signal: AbortSignal): Promise<Health> {
  signal.throwIfAborted();
  const {address, timeoutMs, userAgent} = request;
  const deadline = systemClock.now() + timeoutMs;
  // A kubelet without such probes needs none of it.
  const grpc = await import('@grpc/grpc-js');
  signal.throwIfAborted();
  const client = new grpc.Client(address, grpc.credentials.createInsecure(), {
    'grpc.primary_user_agent': userAgent,
    'grpc.enable_http_proxy': 0,
    'grpc.service_config_disable_resolution': 1,
    'grpc.use_local_subchannel_pool': 1,
    'grpc.initial_reconnect_backoff_ms': 100,
  });
  const close = (): void => {
    client.close();
  };
  signal.addEventListener('abort', close, {once: true});
  try {
    if (!(await isReady(client, deadline))) return {kind: 'no connection'};
    return await check({client, metadata: new grpc.Metadata()}, request, deadline);
  } finally {
    signal.removeEventListener('abort', close);
    client.close();
    signal.throwIfAborted();
  }
}

async function isReady(client: Client, deadline: number): Promise<boolean> {
  return await new Promise((resolve) => {
    client.waitForReady(deadline, (error) => {
      resolve(error === undefined);
    });
  });
}

async function check(
  {client, metadata}: {readonly client: Client; readonly metadata: Metadata},
  {address, service}: HealthRequest,
  deadline: number,
): Promise<Health> {
  return await new Promise((resolve) => {
    client.makeUnaryRequest(
      `/grpc.health.v1.Health/${METHOD}`,
      identity,
      identity,
      encodeRequest(service),
      metadata,
      {deadline},
      (error, response) => {
        resolve(
          error === null && response !== undefined
            ? answerOf(response, address)
            : failure(address, codeOf(error), error?.details ?? 'no answer'),
        );
      },
    );
  });
}

function codeOf(error: ServiceError | null): GrpcCode {
  return error === null ? 'UNKNOWN' : grpcCodeOf(error.code);
}

function failure(endpoint: string, grpcCode: GrpcCode, details: string): Health {
  return {kind: 'failed', error: new CriError({method: METHOD, endpoint, grpcCode, details})};
}

function encodeRequest(service: string): Buffer {
  const writer = new Writer();
  if (service !== '') {
    writer.uint32(SERVICE_TAG);
    writer.string(service);
  }
  return writer.finish();
}

function answerOf(response: Buffer, address: string): Health {
  try {
    const number = decodeStatus(response);
    return {kind: 'answered', status: SERVING_STATUSES[number] ?? String(number)};
  } catch (error) {
    return failure(
      address,
      'INTERNAL',
      `grpc: failed to unmarshal the received message: ${messageOf(error)}`,
    );
  }
}

/** The last `status` of a HealthCheckResponse; other fields are skipped. */
function decodeStatus(response: Buffer): number {
  const reader = new Reader(response);
  let status = 0;
  while (!reader.done) {
    const tag = reader.uint32();
    if (tag === ((STATUS_FIELD << 3) | WIRE.varint)) status = reader.uint32();
    else reader.skip(tag & 7);
  }
  return status;
}
