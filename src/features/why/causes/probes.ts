import type {Container, Probe} from '../../../api/types/v1-pod.js';
import type {ProbeReport} from '../../../kubelet/index.js';
import {findByName} from '../../../base/by-name.js';
import {probeText} from '../../describe/describe-containers.js';
import type {Finding} from '../finding.js';
import {
  describeAdvice,
  eventsOf,
  eventText,
  timeText,
  logAdvice,
  titleOf,
  type ContainerSubject,
} from './subject.js';

/** The probe that keeps a container from being ready, with what is known of its last failure. */
interface FailingProbe {
  readonly kind: 'startup' | 'readiness';
  readonly probe: Probe;
  readonly report: ProbeReport | undefined;
  /** Output of the last failure; undefined if it has not failed. */
  readonly output: string | undefined;
}

/** Explains a container that runs, but is not ready. */
export function explainUnready(subject: ContainerSubject): Finding | undefined {
  const {name, status, snapshot} = subject;
  const {running} = status.state ?? {};
  if (running === undefined || status.ready) return undefined;
  const since =
    running.startedAt === undefined
      ? ''
      : `, running since its start ${timeText(running.startedAt, snapshot)}`;
  const failing = failingProbe(subject);
  if (failing === undefined)
    return {
      rule: 'not-ready',
      severity: 'progress',
      container: name,
      cause: `${titleOf(subject)} runs, and nothing says why it is not ready${since}`,
      evidence: [],
      tries: [describeAdvice(snapshot)],
    };
  const {kind, report, output} = failing;
  const [event] = eventsOf(snapshot, name, 'Unhealthy');
  return {
    rule: `${kind}-probe`,
    severity: output === undefined ? 'progress' : 'problem',
    container: name,
    cause: probeCause(subject, failing),
    evidence: [
      `${kind} probe ${probeText(failing.probe)}`,
      ...(report === undefined || report.inARow === 0
        ? []
        : [`${report.inARow} in a row, ${report.threshold} needed`]),
      ...(event === undefined ? [] : [eventText(event, snapshot)]),
    ],
    ...(report?.nextAt !== undefined && {next: nextProbe(kind, report, snapshot.takenAt)}),
    tries: probeAdvice(failing, subject),
  };
}

function nextProbe(kind: string, {nextAt = ''}: ProbeReport, now: string): string {
  const seconds = Math.ceil((Date.parse(nextAt) - Date.parse(now)) / 1000);
  return seconds <= 0 ? `the next ${kind} probe is due` : `the next ${kind} probe is in ${seconds}s`;
}

function failingProbe({spec, status, snapshot, name}: ContainerSubject): FailingProbe | undefined {
  const kind = spec?.startupProbe !== undefined && status.started === false ? 'startup' : 'readiness';
  const probe = kind === 'startup' ? spec?.startupProbe : spec?.readinessProbe;
  if (probe === undefined) return undefined;
  const report = snapshot.kubelet?.containers
    .find((container) => container.name === name)
    ?.probes.find((each) => each.kind === kind);
  return {kind, probe, report, output: failureOf(kind, report, {snapshot, name})};
}

function failureOf(
  kind: string,
  report: ProbeReport | undefined,
  {snapshot, name}: Pick<ContainerSubject, 'snapshot' | 'name'>,
): string | undefined {
  if (report?.last !== undefined && report.last.result !== 'Success') return report.last.output.trim();
  const prefix = `${kind} probe`;
  const event = eventsOf(snapshot, name, 'Unhealthy').find(({message}) =>
    message.toLowerCase().startsWith(prefix),
  );
  return event?.message.replace(/^\w+ probe (?:failed|errored)[^:]*: /, '').trim();
}

const SLOW = /timed out|deadline exceeded|i\/o timeout|Client\.Timeout/i;
const REFUSED = 'connection refused';
const HTTP_STATUS = /HTTP probe failed with statuscode: (\d+)/;

function probeCause(subject: ContainerSubject, failing: FailingProbe): string {
  const {kind, probe, output} = failing;
  const who = titleOf(subject);
  if (output === undefined) return `the ${kind} probe of ${who} has not succeeded yet`;
  if (SLOW.test(output))
    return `the ${kind} probe of ${who} gets no answer within ${probe.timeoutSeconds ?? 1}s: it is too slow`;
  const wrongPort = output.includes(REFUSED) ? wrongPortCause(subject, failing) : undefined;
  if (wrongPort !== undefined) return wrongPort;
  const [, code] = HTTP_STATUS.exec(output) ?? [];
  if (code !== undefined)
    return `${who} answers its ${kind} probe (GET ${probe.httpGet?.path ?? '/'}) with HTTP status ${code}`;
  return `the ${kind} probe of ${who} fails${output === '' ? '' : `: ${output}`}`;
}

/** Returns the cause if nothing listens on the port that is probed; undefined if that is not known. */
function wrongPortCause(
  {facts, spec, ...subject}: ContainerSubject,
  {kind, probe}: FailingProbe,
): string | undefined {
  const port = portOf(probe, spec);
  const {listening} = facts;
  if (port === undefined || listening === undefined || listening.includes(port)) return undefined;
  const who = `${subject.kind} ${subject.name}`;
  return `nothing in the pod listens on port ${port}, which the ${kind} probe of ${who} asks; ${listeningText(listening)}`;
}

function listeningText(ports: readonly number[]): string {
  return ports.length === 0
    ? 'no TCP port is open'
    : `open ${ports.length === 1 ? 'is' : 'are'} ${ports.join(', ')}`;
}

/** Returns the number of the port that a probe connects to; undefined for other probes and unknown names. */
function portOf({httpGet, tcpSocket, grpc}: Probe, spec: Container | undefined): number | undefined {
  const port = (httpGet ?? tcpSocket ?? grpc)?.port;
  if (typeof port === 'number' || port === undefined) return port;
  const named = findByName(portsOf(spec), port)?.containerPort;
  return named ?? (/^\d+$/.test(port) ? Number(port) : undefined);
}

function portsOf(
  spec: Container | undefined,
): readonly {readonly name: string; readonly containerPort: number}[] {
  return (spec?.ports ?? []).map(({name = '', containerPort}) => ({name, containerPort}));
}

function probeAdvice({kind, output}: FailingProbe, subject: ContainerSubject): Finding['tries'] {
  if (output === undefined) return [describeAdvice(subject.snapshot)];
  if (SLOW.test(output)) return [`raise timeoutSeconds of the ${kind} probe, or find what makes it slow`];
  if (output.includes(REFUSED))
    return [`correct the port of the ${kind} probe, or where the program listens`];
  return [logAdvice(subject)];
}
