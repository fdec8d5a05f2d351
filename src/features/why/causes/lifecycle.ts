import type {Finding} from '../finding.js';
import type {PodSnapshot} from '../snapshot/pod-snapshot.js';
import {quoteMessage} from './message-patterns.js';
import {nextStart} from './next-start.js';
import {
  describeAdvice,
  eventsOf,
  eventText,
  isSince,
  logAdvice,
  logOf,
  timeText,
  titleOf,
  waitingOf,
  type ContainerSubject,
} from './subject.js';

/** Explains a container whose postStart hook fails, also later, in the back-off after it. */
export function explainHook(subject: ContainerSubject): Finding | undefined {
  const {name, status, snapshot, exit} = subject;
  const {reason, message} = waitingOf(status);
  const [event] = eventsOf(snapshot, name, 'FailedPostStartHook');
  const isNow = reason === 'PostStartHookError';
  const ofExit = exit !== undefined && isSince(event, exit.startedAt);
  if (!isNow && !ofExit) return undefined;
  const why = isNow ? (/failed - error: (.*)$/s.exec(message)?.[1] ?? message) : (event?.message ?? '');
  return {
    rule: 'post-start-hook',
    severity: 'problem',
    container: name,
    cause: `the postStart hook of ${titleOf(subject)} failed, so that the kubelet killed the container: ${why.trim()}`,
    evidence: event === undefined ? [] : [eventText(event, snapshot)],
    ...logOf(subject),
    ...nextStart(subject),
    tries: ['correct lifecycle.postStart', logAdvice(subject)],
  };
}

/** Explains an init container that runs: the others wait for its end. */
export function explainRunningInit(subject: ContainerSubject): Finding | undefined {
  const {name, kind, status, snapshot} = subject;
  const {running} = status.state ?? {};
  if (kind !== 'init container' || running === undefined) return undefined;
  const since = running.startedAt === undefined ? [] : [`started ${timeText(running.startedAt, snapshot)}`];
  return {
    rule: 'init-container-runs',
    severity: 'progress',
    container: name,
    cause: `init container ${name} has not ended; the containers after it wait for its end`,
    evidence: since,
    next: 'the next container starts when it ends with exit code 0',
    tries: [logAdvice(subject)],
  };
}

/** Explains a container whose creation has not ended, or that waits for a reason that no other rule knows. */
export function explainWaiting(subject: ContainerSubject): Finding | undefined {
  const {name, status, snapshot} = subject;
  const {running, terminated} = status.state ?? {};
  const {reason, message} = waitingOf(status);
  if (running !== undefined || terminated !== undefined || reason === 'PodInitializing') return undefined;
  if (reason === '' || reason === 'ContainerCreating') return explainCreation(subject);
  return {
    rule: 'waiting',
    severity: 'problem',
    container: name,
    cause: `unknown: ${titleOf(subject)} waits with reason ${reason}`,
    evidence: message === '' ? [] : [quoteMessage(message)],
    ...nextStart(subject),
    tries: [describeAdvice(snapshot)],
  };
}

/** Returns the names of the volumes that a driver or a server helps to mount, which may hang. */
function slowVolumes({pod: {spec}}: PodSnapshot): readonly string[] {
  return (spec.volumes ?? [])
    .filter(
      ({csi, persistentVolumeClaim: claim, ephemeral, nfs, iscsi, fc, flexVolume: flex}) =>
        (csi ?? claim ?? ephemeral ?? nfs ?? iscsi ?? fc ?? flex) !== undefined,
    )
    .map(({name}) => name);
}

function explainCreation(subject: ContainerSubject): Finding {
  const {name, status, snapshot} = subject;
  const volumes = slowVolumes(snapshot);
  if (snapshot.sandbox === undefined && volumes.length > 0)
    return {
      rule: 'being-created',
      severity: 'progress',
      container: name,
      cause: `${titleOf(subject)} has not been created yet; no error is known. The pod has no sandbox, which is made when its volumes are mounted: ${volumes.join(', ')}`,
      evidence: [],
      tries: [describeAdvice(snapshot)],
    };
  const [pulling] = eventsOf(snapshot, name, 'Pulling');
  const isPulling = pulling !== undefined && eventsOf(snapshot, name, 'Pulled', 'Failed').length === 0;
  return {
    rule: isPulling ? 'image-is-pulled' : 'being-created',
    severity: 'progress',
    container: name,
    cause: isPulling
      ? `the image ${status.image} is being pulled`
      : `${titleOf(subject)} has not been created yet; no error is known`,
    evidence: pulling === undefined ? [] : [eventText(pulling, snapshot)],
    tries: [describeAdvice(snapshot)],
  };
}
