import {findByName} from '../../../base/by-name.js';
import {formatAge} from '../../../format/age.js';
import {parseDuration} from '../../../format/duration.js';
import type {KubeletPodReport} from '../../../kubelet/index.js';
import {mayRestart, restartPolicyOf} from '../../pods/restart-policy.js';
import type {Finding} from '../finding.js';
import {ruleEffect} from './restart-rules.js';
import {clockText, waitingOf, type ContainerSubject} from './subject.js';

type BackOff = NonNullable<KubeletPodReport['containers'][number]['backOff']>;

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
  const {snapshot, name} = subject;
  const {manager, isUnattended, kubelet, takenAt} = snapshot;
  if (manager === 'none') return 'nothing starts it again: no kubelet manages this pod';
  if (isUnattended) return 'nothing: no kcri process runs this pod';
  const end = whyEnded(subject);
  if (end !== undefined) return `nothing: ${end}`;
  if (ruleEffect(subject)?.action === 'RestartAllContainers') return 'all containers of the pod start again';
  const backOff = findByName(kubelet?.containers ?? [], name)?.backOff;
  return backOff === undefined ? announcedStart(subject, verb) : plannedStart(backOff, verb, takenAt);
}

/** Returns why the container is not started again after its exit; undefined if it is, or has not exited. */
function whyEnded(subject: ContainerSubject): string | undefined {
  const {snapshot, name, exit, spec} = subject;
  if (exit === undefined) return undefined;
  const effect = ruleEffect(subject);
  const policy =
    effect === undefined
      ? restartPolicyOf(snapshot.pod, name, snapshot.manager)
      : (spec?.restartPolicy ?? 'unknown');
  if (effect?.action !== undefined || mayRestart(policy, exit.exitCode)) return undefined;
  return [`restartPolicy is ${policy}`, ...(effect === undefined ? [] : [effect.text])].join(', and ');
}

/** Returns when the kubelet of kcri starts the container again. */
function plannedStart({until, seconds}: BackOff, verb: string, now: string): string {
  if (Date.parse(until) <= Date.parse(now)) return `${verb} again now`;
  const length = seconds === undefined ? '' : ` (back-off ${formatAge(seconds * 1000)})`;
  return `${verb} again at ${clockText(until, now)}${length}`;
}

/** Returns when another kubelet starts the container again, from its message and the time of the exit. */
function announcedStart({status, exit, snapshot}: ContainerSubject, verb: string): string | undefined {
  const nanos = parseDuration(BACK_OFF.exec(waitingOf(status).message)?.[1] ?? '');
  if (nanos === undefined || exit?.finishedAt === undefined) return undefined;
  const lengthMs = Number(nanos / NANOS_PER_MS);
  const until = new Date(Date.parse(exit.finishedAt) + lengthMs).toISOString();
  return `${verb} again at about ${clockText(until, snapshot.takenAt)} (back-off ${formatAge(lengthMs)} since the last exit)`;
}
