import {counted} from '../../../base/counted.js';
import type {Finding} from '../finding.js';
import type {OomKill} from '../snapshot/pod-snapshot.js';
import {nextStart} from './next-start.js';
import {
  exitText,
  logAdvice,
  logOf,
  memoryLimitOf,
  sizeText,
  timeText,
  titleOf,
  type ContainerSubject,
} from './subject.js';

/** Explains a container whose last instance ended because the kernel killed its processes for memory. */
export function explainOomKill(subject: ContainerSubject): Finding | undefined {
  const {exit, facts, name, snapshot} = subject;
  if (exit === undefined) return undefined;
  const kills = facts.oomKills ?? [];
  const ofExit = kills.filter(({containerId}) => exit.containerID?.endsWith(containerId) === true);
  const kill = ofExit.at(-1);
  if (exit.reason !== 'OOMKilled' && kill === undefined) return undefined;
  const ofNode = kill !== undefined && kill.limit === undefined;
  return {
    rule: ofNode ? 'node-out-of-memory' : 'oom-killed',
    severity: 'problem',
    container: name,
    cause: `${whatHappened(subject, kill)}: ${measures(subject, kill)}`,
    evidence: [
      exitText(exit, snapshot),
      ...(kill === undefined
        ? []
        : [
            `kernel killed ${kill.process} (${sizeText(kill.residentBytes)} resident) ${timeText(kill.at, snapshot)}`,
          ]),
      ...(kills.length > 1 ? [`${kills.length} processes killed in its last instances`] : []),
    ],
    ...logOf(subject),
    ...nextStart(subject),
    tries: [
      ofNode
        ? 'set memory requests and limits of the pods, or add memory to the node'
        : `raise resources.limits.memory of ${titleOf(subject)}, or let it use less`,
      logAdvice(subject),
    ],
  };
}

/** Exit code of a process that SIGKILL ended. */
const KILLED = 137;

function whatHappened(subject: ContainerSubject, kill: OomKill | undefined): string {
  const {exit} = subject;
  if (exit?.exitCode === KILLED) return `${titleOf(subject)} was killed for memory`;
  const victim = kill === undefined ? 'a process' : `process ${kill.process}`;
  return `${victim} of ${titleOf(subject)} was killed for memory, and the main process then ended by itself`;
}

function measures(subject: ContainerSubject, kill: OomKill | undefined): string {
  const limit = kill?.limit ?? memoryLimitOf(subject);
  const count = kill === undefined ? undefined : `${counted(kill.processes, 'process')} in the pod`;
  if (kill !== undefined && kill.limit === undefined)
    return `the memory of the node ran out, not the container's limit${limit === undefined ? '' : ` of ${sizeText(limit)}`}`;
  const parts = [
    limit === undefined ? 'limit unknown' : `limit ${sizeText(limit)}`,
    ...(kill?.usage === undefined ? [] : [`in use ${sizeText(kill.usage)}`]),
    ...(count === undefined ? [] : [count]),
  ];
  return parts.join(', ');
}
