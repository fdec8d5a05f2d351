import {statusReadyMs} from './first-readiness.js';
import {BACK_OFF_MS, type Phase} from './phase.js';
import {
  type ContainerTimes,
  type PodFacts,
  findContainer,
  isInitContainer,
  parseMs,
  seenMsOf,
  startTimeMsOf,
  statusOf,
} from './pod-facts.js';

/** Returns what follows from the times that the runtime and the status of the pod have. Pure. */
export function runtimePhases(facts: PodFacts): readonly Phase[] {
  return [
    ...beginning(facts),
    ...facts.containers.flatMap((container) =>
      containerPhases(container, isInitContainer(facts, container.name)),
    ),
    ...backOffs(facts),
    ...readiness(facts),
    ...openProbes(facts),
    ...deletion(facts),
  ];
}

/** Returns the phases before the first container: nothing measures them but a kubelet. */
function beginning(facts: PodFacts): readonly Phase[] {
  const seenMs = seenMsOf(facts);
  const startTimeMs = startTimeMsOf(facts);
  const [sandbox] = facts.sandboxes;
  const admitted = startTimeMs ?? seenMs;
  return [
    ...(seenMs !== undefined && startTimeMs !== undefined && startTimeMs > seenMs
      ? [
          {
            ...({name: 'admission', startMs: seenMs, endMs: startTimeMs, source: 'status'} as const),
            inferred: 'until startTime of the status, which has whole seconds',
          },
        ]
      : []),
    ...(sandbox !== undefined && admitted !== undefined
      ? [
          {
            ...({name: 'sandbox', source: 'runtime'} as const),
            startMs: Math.min(Math.max(admitted, seenMs ?? admitted), sandbox.createdMs),
            endMs: sandbox.createdMs,
            inferred:
              'from the start of the pod, in whole seconds, to the creation of its sandbox; includes the volumes',
          },
        ]
      : []),
  ];
}

function containerPhases(
  {name, createdMs, startedMs, finishedMs, exitCode}: ContainerTimes,
  isInit: boolean,
): readonly Phase[] {
  if (startedMs === undefined) return [];
  const ended = finishedMs === undefined ? {} : {endMs: Math.max(startedMs, finishedMs)};
  const isFailed = exitCode !== undefined && exitCode !== 0;
  return [
    {
      ...({name: 'start', subject: name, source: 'runtime'} as const),
      startMs: Math.min(createdMs, startedMs),
      endMs: startedMs,
      inferred: 'from the creation of the container to its start',
    },
    {
      ...({
        name: isInit ? 'init' : 'running',
        subject: name,
        startMs: startedMs,
        ...ended,
        source: 'runtime',
      } as const),
      ...(exitCode !== undefined && finishedMs !== undefined && {note: `exit code ${exitCode}`}),
      ...(isFailed && {isFailed: true as const}),
    },
  ];
}

/** Returns the waits between the instances of a container, and the one that lasts. */
function backOffs(facts: PodFacts): readonly Phase[] {
  const {containers} = facts;
  return containers.flatMap(({name, finishedMs}, index): readonly Phase[] => {
    if (finishedMs === undefined) return [];
    const next = containers.slice(index + 1).find((other) => other.name === name);
    const phase = {name: 'back-off', subject: name, startMs: finishedMs, source: 'runtime'} as const;
    const inferred = 'from the exit to the next creation';
    if (next !== undefined)
      return next.createdMs - finishedMs < BACK_OFF_MS ? [] : [{...phase, endMs: next.createdMs, inferred}];
    const waiting = statusOf(facts, name)?.state?.waiting;
    return waiting?.reason === 'CrashLoopBackOff' ? [{...phase, inferred: 'from the exit until now'}] : [];
  });
}

/** Returns the time from the start of the last container to the condition Ready, of a pod that did not restart since. */
function readiness(facts: PodFacts): readonly Phase[] {
  const readyMs = statusReadyMs(facts);
  const running = facts.containers.flatMap(({startedMs, finishedMs}) =>
    finishedMs === undefined ? (startedMs ?? []) : [],
  );
  const startedMs = Math.max(...running);
  if (readyMs === undefined || running.length === 0 || readyMs < startedMs) return [];
  return [
    {
      ...({name: 'readiness', startMs: startedMs, endMs: readyMs, source: 'status'} as const),
      inferred: 'until the condition Ready, which has whole seconds',
    },
  ];
}

/** Returns the waits for the startup and readiness probes of running containers. */
function openProbes(facts: PodFacts): readonly Phase[] {
  return facts.containers.flatMap(({name, startedMs, finishedMs}): readonly Phase[] => {
    const status = statusOf(facts, name);
    if (startedMs === undefined || finishedMs !== undefined || status === undefined || status.ready)
      return [];
    const {startupProbe, readinessProbe} = findContainer(facts, name) ?? {};
    const isStarting = startupProbe !== undefined && status.started !== true;
    if (!isStarting && readinessProbe === undefined) return [];
    const inferred = 'from the start of the container; its probe has not succeeded';
    return [
      {
        name: isStarting ? 'startup' : 'readiness',
        subject: name,
        startMs: startedMs,
        source: 'status',
        inferred,
      },
    ];
  });
}

/** Returns the termination of a pod that is being deleted: its timestamp is the end of the grace period. */
function deletion({pod: {metadata}}: PodFacts): readonly Phase[] {
  const {deletionTimestamp, deletionGracePeriodSeconds} = metadata;
  const endMs = parseMs(deletionTimestamp);
  if (endMs === undefined) return [];
  const startMs = endMs - (deletionGracePeriodSeconds ?? 0) * 1000;
  const inferred = 'from the deletion timestamp and the grace period';
  return [{name: 'stop', subject: 'pod', startMs, source: 'status', inferred}];
}
