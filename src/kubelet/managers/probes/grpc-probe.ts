import {joinHostPort} from '../../../base/net/join-host-port.js';
import type {GRPCAction} from '../../../api/types/v1-pod.js';
import {checkHealth, type Health} from '../../../cri/check-health.js';
import {formatGoSeconds} from '../../../format/duration.js';
import {goQuote} from '../../../format/go-quote.js';
import {PROBE_CLIENT} from '../http/http-request.js';
import {failure, success, type ProbeHandlerResult} from './probe-handler-result.js';

/** Calls the gRPC health service; SERVING is a success (probe/grpc). Rejects with the signal's reason. */
export async function probeGrpc(
  {port, service = ''}: GRPCAction,
  {podIp, timeoutSeconds}: {readonly podIp: string; readonly timeoutSeconds: number},
  signal: AbortSignal,
): Promise<ProbeHandlerResult> {
  const address = joinHostPort({host: podIp, port});
  const request = {
    address,
    service,
    timeoutMs: timeoutSeconds * 1000,
    userAgent: PROBE_CLIENT.userAgent,
  };
  return toResult(await checkHealth(request, signal), address, formatGoSeconds(timeoutSeconds));
}

function toResult(health: Health, address: string, timeout: string): ProbeHandlerResult {
  switch (health.kind) {
    case 'no connection':
      return failure(
        `timeout: failed to connect service ${goQuote(address)} within ${timeout}: context deadline exceeded`,
      );
    case 'answered':
      return health.status === 'SERVING'
        ? success('service healthy')
        : failure(`service unhealthy (responded with ${goQuote(health.status)})`);
    case 'failed':
      return failure(failedCall(health.error, timeout));
  }
}

function failedCall(
  {grpcCode, details, message}: Extract<Health, {kind: 'failed'}>['error'],
  timeout: string,
): string {
  if (grpcCode === 'UNIMPLEMENTED')
    return `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${details}`;
  if (grpcCode === 'DEADLINE_EXCEEDED') return `timeout: health rpc did not complete within ${timeout}`;
  return `error: health rpc probe failed: ${message}`;
}
