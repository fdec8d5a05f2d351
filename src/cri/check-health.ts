import type {Client, Metadata, ServiceError} from '@grpc/grpc-js';
import {onAbort} from '../base/async/abort-callbacks.js';
import {systemClock} from '../base/clock.js';
import {CriError, grpcCodeOf, type GrpcCode} from './errors.js';
import {malformedDetails, WIRE, WireError, WireReader, WireWriter} from './wire-format.js';

/**
 * Status names by number (grpc.health.v1 HealthCheckResponse.ServingStatus). A status without a name is returned as
 * its number.
 */
const SERVING_STATUSES = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'] as const;

/** Result of a health check. */
export type Health =
  | {readonly kind: 'answered'; readonly status: string}
  /** No gRPC connection was established before the timeout. */
  | {readonly kind: 'no connection'}
  | {readonly kind: 'failed'; readonly error: CriError};

/** Parameters of a health check. */
export interface HealthRequest {
  /** `host:port`; an IPv6 address is in brackets. */
  readonly address: string;
  /** Service to check; empty for the whole server. */
  readonly service: string;
  /** Timeout for connecting and calling together, in milliseconds. */
  readonly timeoutMs: number;
  readonly userAgent: string;
}

const METHOD = 'Check';
const STATUS_FIELD = 1;
/** Tag of field 1, length-delimited. */
const SERVICE_TAG = (1 << 3) | WIRE.bytes;

const identity = (bytes: Buffer): Buffer => bytes;

/**
 * Checks the health of a server over plaintext HTTP/2 with grpc.health.v1.Health/Check, as grpc_health_probe does.
 * Rejects only with the signal's reason.
 */
export async function checkHealth(request: HealthRequest, signal: AbortSignal): Promise<Health> {
  signal.throwIfAborted();
  const {address, timeoutMs, userAgent} = request;
  const deadline = systemClock.now() + timeoutMs;
  // Loaded lazily: most kubelets have no gRPC probes.
  const grpc = await import('@grpc/grpc-js');
  signal.throwIfAborted();
  const client = new grpc.Client(address, grpc.credentials.createInsecure(), {
    'grpc.primary_user_agent': userAgent,
    'grpc.enable_http_proxy': 0,
    'grpc.service_config_disable_resolution': 1,
    'grpc.use_local_subchannel_pool': 1,
    'grpc.initial_reconnect_backoff_ms': 100,
  });
  const forget = onAbort(signal, () => {
    client.close();
  });
  try {
    if (!(await isReady(client, deadline))) return {kind: 'no connection'};
    return await check({client, metadata: new grpc.Metadata()}, request, deadline);
  } finally {
    forget();
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
            ? parseResponse(response, address)
            : failure(address, codeOf(error), error?.details ?? 'no response'),
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
  const writer = new WireWriter();
  if (service !== '') {
    writer.uint32(SERVICE_TAG);
    writer.string(service);
  }
  return writer.finish();
}

function parseResponse(response: Buffer, address: string): Health {
  try {
    const number = decodeStatus(response);
    return {kind: 'answered', status: SERVING_STATUSES[number] ?? String(number)};
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return failure(address, 'INTERNAL', malformedDetails(error));
  }
}

/** Returns the last `status` field of a HealthCheckResponse; other fields are skipped. */
function decodeStatus(response: Buffer): number {
  const reader = new WireReader(response);
  let status = 0;
  while (!reader.done) {
    const tag = reader.uint32();
    if (tag === ((STATUS_FIELD << 3) | WIRE.varint)) status = reader.uint32();
    else reader.skip(tag & 7);
  }
  return status;
}
