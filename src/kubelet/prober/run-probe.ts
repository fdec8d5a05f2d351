import type {MadeProbe} from '../container/kubelet-metrics.js';
import type {Container, Pod, Probe} from '../../api/v1.js';
import type {Clock} from '../../base/clock.js';
import {messageOf} from '../../base/errors.js';
import {timeLimit} from '../../base/time-limit.js';
import type {ContainerId} from '../../cri/index.js';
import {containerEvents, type ContainerKind, type EventSink} from '../container/events.js';
import type {ProbeKind, ProbeResult} from '../container/probe-results.js';
import {probeExec, type CommandRunner} from './exec-probe.js';
import {probeGrpc} from './grpc-probe.js';
import {probeHttp} from './http-probe.js';
import type {ProbeAnswer} from './probe-answer.js';
import {probeTcp} from './tcp-probe.js';

/** With what a pod's containers are probed. */
export interface ProbeIo {
  readonly runtime: CommandRunner;
  readonly events: EventSink;
  readonly clock: Clock;
  /** Told of every probe that is made. */
  readonly made?: (made: MadeProbe) => void;
}

/** One probe of one container. */
export interface ProbeSubject {
  readonly pod: Pod;
  readonly container: Container;
  readonly list: ContainerKind;
  readonly kind: ProbeKind;
  readonly probe: Probe;
}

/** The instance that is probed, and where the pod is. */
export interface ProbedInstance {
  readonly id: ContainerId;
  readonly podIp: string;
  /** Whether its pod is being ended: then it is no news that it can't be probed. */
  readonly isEnding?: () => boolean;
  /** Told what the probe brought to light. */
  readonly heard?: (output: string) => void;
}

/** A probe that can't be carried out is tried so often. */
const TRIES = 3;

const TITLES: Readonly<Record<ProbeKind, string>> = {
  liveness: 'Liveness',
  readiness: 'Readiness',
  startup: 'Startup',
};

/**
 * Probes once, and tells of what isn't well in the kubelet's words (prober.go probe). Undefined when the probe could
 * not be carried out, which counts for nothing. Rejects with the signal's reason only.
 */
export async function runProbe(
  io: ProbeIo,
  subject: ProbeSubject,
  instance: ProbedInstance,
  signal: AbortSignal,
): Promise<Exclude<ProbeResult, 'Unknown'> | undefined> {
  const answer = await withRetries(io, subject, instance, signal);
  instance.heard?.(answer.output);
  const events = containerEvents(io.events, subject.pod, subject.list, subject.container.name);
  const title = TITLES[subject.kind];
  switch (answer.result) {
    case 'success':
      return 'Success';
    case 'warning':
      events.warning('ProbeWarning', `${title} probe warning: ${answer.output}`);
      return 'Success';
    case 'failure':
      events.warning('Unhealthy', `${title} probe failed: ${answer.output}`);
      return 'Failure';
    case 'error':
      if (instance.isEnding?.() === true) return undefined;
      events.warning(
        'Unhealthy',
        `${title} probe errored and resulted in ${answer.state} state: ${answer.output}`,
      );
      return undefined;
  }
}

async function withRetries(
  io: ProbeIo,
  subject: ProbeSubject,
  instance: ProbedInstance,
  signal: AbortSignal,
): Promise<ProbeAnswer> {
  for (let tries = 1; ; tries++) {
    const answer = await attempt(io, subject, instance, signal).catch((error: unknown): ProbeAnswer => ({
      result: 'error',
      state: 'unknown',
      output: messageOf(error),
    }));
    signal.throwIfAborted();
    if (answer.result !== 'error' || tries >= TRIES) return answer;
  }
}

async function attempt(
  {runtime, clock}: ProbeIo,
  {container, probe}: ProbeSubject,
  {id, podIp}: ProbedInstance,
  signal: AbortSignal,
): Promise<ProbeAnswer> {
  const {exec, httpGet, tcpSocket, grpc, timeoutSeconds = 1} = probe;
  // The runtime and gRPC keep the time themselves.
  if (exec !== undefined) return await probeExec(runtime, {exec, container, id, timeoutSeconds}, signal);
  if (grpc !== undefined) return await probeGrpc(grpc, {podIp, timeoutSeconds}, signal);
  using limit = timeLimit(clock, timeoutSeconds * 1000);
  const timeUp = AbortSignal.any([signal, limit.signal]);
  if (httpGet !== undefined) return await probeHttp(httpGet, {container, podIp}, timeUp);
  if (tcpSocket !== undefined) return await probeTcp(tcpSocket, {container, podIp}, timeUp);
  return {result: 'error', state: 'unknown', output: `missing probe handler for ${container.name}`};
}
