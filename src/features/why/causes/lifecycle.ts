import type {Finding} from '../finding.js';
import {quoteMessage} from './message-patterns.js';
import {nextStart} from './next-start.js';
import {
  describeAdvice,
  eventsOf,
  eventText,
  logAdvice,
  logOf,
  timeText,
  titleOf,
  type ContainerSubject,
} from './subject.js';

/** Explains a container whose postStart hook fails. */
export function explainHook(subject: ContainerSubject): Finding | undefined {
  const {name, status, snapshot} = subject;
  const {reason, message = ''} = status.state?.waiting ?? {};
  if (reason !== 'PostStartHookError') return undefined;
  const why = /failed - error: (.*)$/s.exec(message)?.[1] ?? message;
  const [event] = eventsOf(snapshot, name, 'FailedPostStartHook');
  return {
    rule: 'post-start-hook',
    severity: 'problem',
    container: name,
    cause: `the postStart hook of ${titleOf(subject)} failed, so that the kubelet killed it: ${why.trim()}`,
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

/** Explains a container that waits for a reason that no other rule knows. */
export function explainWaiting(subject: ContainerSubject): Finding | undefined {
  const {name, status, snapshot} = subject;
  const {reason = '', message = ''} = status.state?.waiting ?? {};
  if (status.state?.running !== undefined || status.state?.terminated !== undefined) return undefined;
  if (reason === 'PodInitializing') return undefined;
  const [pulling] = eventsOf(snapshot, name, 'Pulling');
  const isPulling = pulling !== undefined && eventsOf(snapshot, name, 'Pulled', 'Failed').length === 0;
  const isNew = reason === '' || reason === 'ContainerCreating';
  return {
    rule: isPulling ? 'image-is-pulled' : isNew ? 'being-created' : 'waiting',
    severity: isNew ? 'progress' : 'problem',
    container: name,
    cause: isPulling
      ? `the image ${status.image} is being pulled`
      : isNew
        ? `${titleOf(subject)} has not been created yet; no error is known`
        : `unknown: ${titleOf(subject)} waits with reason ${reason}`,
    evidence: [
      ...(pulling === undefined ? [] : [eventText(pulling, snapshot)]),
      ...(message === '' ? [] : [quoteMessage(message)]),
    ],
    ...nextStart(subject),
    tries: [describeAdvice(snapshot)],
  };
}
