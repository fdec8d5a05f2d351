import {anySignal} from '../../../base/async/any-signal.js';
import type {ProbeMeasurement} from '../../contract/kubelet-metrics.js';
import type {Container, Pod, Probe} from '../../../api/types/v1-pod.js';
import type {Clock} from '../../../base/clock.js';
import {messageOf, rethrowUnexpected} from '../../../base/errors.js';
import {createDeadline} from '../../../base/async/deadline.js';
import type {ContainerId} from '../../../cri/index.js';
import {createContainerEventRecorder, type ContainerKind, type EventSink} from '../../contract/pod-event.js';
import {formatPod, podRef} from '../../contract/pod-ref.js';
import type {ProbeKind, ProbeResult} from '../../contract/probe-results.js';
import {probeExec, type CommandRunner} from './exec-probe.js';
import {probeGrpc} from './grpc-probe.js';
import {probeHttp} from './http-probe.js';
import type {ProbeHandlerResult} from './probe-handler-result.js';
import {probeTcp} from './tcp-probe.js';

/** Services for the probes of a pod. */
export interface ProbeServices {
  readonly runtime: CommandRunner;
  readonly events: EventSink;
  readonly clock: Clock;
  /** Called after each probe. */
  readonly onProbe?: (made: ProbeMeasurement) => void;
}

/** Probe of a container. */
export interface ProbeSubject {
  readonly pod: Pod;
  readonly container: Container;
  readonly list: ContainerKind;
  readonly kind: ProbeKind;
  readonly probe: Probe;
}

/** Instance to probe and IP of its pod. */
export interface ProbedInstance {
  readonly id: ContainerId;
  readonly podIp: string;
  /** Called with the output of the probe. */
  readonly onOutput?: (output: string) => void;
}

/** Maximum number of attempts to execute a probe (maxProbeRetries). */
const MAX_ATTEMPTS = 3;

const TITLES: Readonly<Record<ProbeKind, string>> = {
  liveness: 'Liveness',
  readiness: 'Readiness',
  startup: 'Startup',
};

/**
 * Probes once and records the kubelet's event for a failure or warning (prober.go probe). Resolves with undefined if
 * the probe could not be executed. Rejects only with the signal's reason.
 */
export async function runProbe(
  io: ProbeServices,
  subject: ProbeSubject,
  instance: ProbedInstance,
  signal: AbortSignal,
): Promise<Exclude<ProbeResult, 'Unknown'> | undefined> {
  const result = await withRetries(io, subject, instance, signal);
  instance.onOutput?.(result.output);
  const events = createContainerEventRecorder(io.events, subject.pod, subject.list, subject.container.name);
  const title = TITLES[subject.kind];
  switch (result.result) {
    case 'success':
      return 'Success';
    case 'warning':
      events.warning('ProbeWarning', `${title} probe warning: ${result.output}`);
      return 'Success';
    case 'failure':
      events.warning('Unhealthy', `${title} probe failed: ${result.output}`);
      return 'Failure';
    case 'error':
      events.warning(
        'Unhealthy',
        `${title} probe errored and resulted in ${result.state} state: ${result.output}`,
      );
      return undefined;
  }
}

async function withRetries(
  io: ProbeServices,
  subject: ProbeSubject,
  instance: ProbedInstance,
  signal: AbortSignal,
): Promise<ProbeHandlerResult> {
  for (let attempts = 1; ; attempts++) {
    const result = await attempt(io, subject, instance, signal).catch(
      (error: unknown): ProbeHandlerResult => {
        signal.throwIfAborted();
        rethrowUnexpected(error);
        return {result: 'error', state: 'unknown', output: messageOf(error)};
      },
    );
    signal.throwIfAborted();
    if (result.result !== 'error' || attempts >= MAX_ATTEMPTS) return result;
  }
}

async function attempt(
  {runtime, clock}: ProbeServices,
  {pod, container, probe}: ProbeSubject,
  {id, podIp}: ProbedInstance,
  signal: AbortSignal,
): Promise<ProbeHandlerResult> {
  const {exec, httpGet, tcpSocket, grpc, timeoutSeconds = 1} = probe;
  // The runtime and the gRPC client enforce the timeout themselves.
  if (exec !== undefined) return await probeExec(runtime, {exec, container, id, timeoutSeconds}, signal);
  if (grpc !== undefined) return await probeGrpc(grpc, {podIp, timeoutSeconds}, signal);
  using limit = createDeadline(clock, timeoutSeconds * 1000);
  using either = anySignal(signal, limit.signal);
  const timeUp = either.signal;
  if (httpGet !== undefined) return await probeHttp(httpGet, {container, podIp}, timeUp);
  if (tcpSocket !== undefined) return await probeTcp(tcpSocket, {container, podIp}, timeUp);
  const output = `missing probe handler for ${formatPod(podRef(pod))}:${container.name}`;
  return {result: 'error', state: 'unknown', output};
}
