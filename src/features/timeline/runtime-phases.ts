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
  const isSeenFirst = seenMs !== undefined && startTimeMs !== undefined && startTimeMs > seenMs;
  return [
    ...(isSeenFirst
      ? [
          {
            ...({name: 'admission', startMs: seenMs, endMs: startTimeMs, source: 'status'} as const),
            inferred: 'until startTime of the status, which has whole seconds',
          },
        ]
      : []),
    ...firstSandbox(facts, startTimeMs === undefined ? seenMs : Math.max(startTimeMs, seenMs ?? startTimeMs)),
  ];
}

/**
 * Returns the start of the first sandbox, whose creation is the beginning of RunPodSandbox in containerd. Images come next, and only a
 * recorded event says when.
 */
function firstSandbox(facts: PodFacts, admittedMs: number | undefined): readonly Phase[] {
  const createdMs = facts.sandboxes[0]?.createdMs;
  if (createdMs === undefined || admittedMs === undefined) return [];
  const mountedMs = lastMountMs(facts, createdMs);
  const imageMs = firstImageMs(facts, createdMs);
  const from =
    mountedMs === undefined
      ? 'from the start of the pod, in whole seconds,'
      : 'from the last mount of a volume';
  const to = imageMs === undefined ? 'to the creation of its sandbox' : 'to the first event about an image';
  const volumes = mountedMs === undefined ? '; includes the volumes' : '';
  return [
    {
      ...({name: 'sandbox', source: 'runtime', inferred: `${from} ${to}${volumes}`} as const),
      startMs: mountedMs ?? Math.min(admittedMs, createdMs),
      endMs: imageMs ?? createdMs,
    },
  ];
}

/** Returns the time of the first event about an image after a time; undefined if none is recorded. */
function firstImageMs({events}: PodFacts, afterMs: number): number | undefined {
  const times = events.flatMap(({reason, firstTimestamp}) =>
    reason === 'Pulling' || reason === 'Pulled' ? (parseMs(firstTimestamp) ?? []) : [],
  );
  const first = Math.min(...times);
  return times.length > 0 && first >= afterMs ? first : undefined;
}

/** Returns the time of the last mount of a volume before a time; undefined without one, and if a volume was mounted later. */
function lastMountMs({mounts}: PodFacts, beforeMs: number): number | undefined {
  const times = mounts.flatMap(({mountedAt}) => parseMs(mountedAt) ?? []);
  const last = Math.max(...times);
  return times.length > 0 && last <= beforeMs ? last : undefined;
}

function containerPhases(
  {name, createdMs, startedMs, finishedMs, exitCode, inferredEnd}: ContainerTimes,
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
        source: inferredEnd === undefined ? 'runtime' : 'kubelet',
      } as const),
      ...(inferredEnd !== undefined && {inferred: inferredEnd}),
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
