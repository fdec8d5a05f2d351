import {formatAge} from '../../../format/age.js';
import {parseDuration} from '../../../format/duration.js';
import {mayRestart, restartPolicyOf} from '../../pods/restart-policy.js';
import type {Finding} from '../finding.js';
import {clockText, type ContainerSubject} from './subject.js';

const NANOS_PER_MS = 1_000_000n;
/** Length of the back-off in the message of CrashLoopBackOff. */
const BACK_OFF = /^back-off (\S+) restarting failed container/;

/** Returns what happens next to a container that does not run, and when, to be spread into a finding. */
export function nextStart(
  subject: ContainerSubject,
  verb: 'starts' | 'is pulled' = 'starts',
): Pick<Finding, 'next'> {
  const next = nextText(subject, verb);
  return next === undefined ? {} : {next};
}

function nextText(subject: ContainerSubject, verb: string): string | undefined {
  const {snapshot, name, exit, status} = subject;
  const {manager, isUnattended, kubelet, takenAt, pod} = snapshot;
  if (manager === 'none') return 'nothing starts it again: no kubelet manages this pod';
  if (isUnattended) return 'nothing: no kcri process runs this pod';
  const policy = restartPolicyOf(pod, name, manager);
  if (exit !== undefined && !mayRestart(policy, exit.exitCode)) return `nothing: restartPolicy is ${policy}`;
  const backOff = kubelet?.containers.find((container) => container.name === name)?.backOff;
  if (backOff !== undefined) {
    const {until, seconds} = backOff;
    const isOver = Date.parse(until) <= Date.parse(takenAt);
    const length = seconds === undefined ? '' : ` (back-off ${formatAge(seconds * 1000)})`;
    return isOver ? `${verb} again now` : `${verb} again at ${clockText(until, takenAt)}${length}`;
  }
  const message = status.state?.waiting?.message ?? '';
  const nanos = parseDuration(BACK_OFF.exec(message)?.[1] ?? '');
  if (nanos === undefined || exit?.finishedAt === undefined) return undefined;
  const until = Date.parse(exit.finishedAt) + Number(nanos / NANOS_PER_MS);
  const length = formatAge(Number(nanos / NANOS_PER_MS));
  return `${verb} again at about ${clockText(new Date(until).toISOString(), takenAt)} (back-off ${length}, from the last exit)`;
}
