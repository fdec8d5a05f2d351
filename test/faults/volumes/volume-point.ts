/** Faults of a driver in two consecutive calls of a method; in one, if the driver hangs or ends. */
export const DRIVER_FAULTS = [
  /** The call has no effect and fails, for good. */
  'error',
  /** The call has no effect and fails; the caller cannot know that. */
  'unavailable',
  /** The call has its effect and fails. */
  'failed',
  /** The call has no effect and no answer. */
  'hang',
  /** The call has its effect, and no answer within the deadline of its caller. */
  'late',
  /** The call has its effect after its caller has given up; meanwhile the volume is busy. */
  'slow',
  /** The driver ends before the effect, and starts again. */
  'crash',
  /** The driver ends after the effect, and starts again. */
  'lost',
  /** The call is delivered twice. */
  'duplicate',
] as const;

/** Name of a fault of a driver. */
export type DriverFault = (typeof DRIVER_FAULTS)[number];

/** What happens after the kubelet was killed, before another one starts. */
export const AFTERMATHS = [
  'restart',
  /** The manifests of all pods are removed. */
  'deleted',
  /** The driver ends, and starts only after the kubelet. */
  'driver',
  /** The node boots: nothing is mounted and nothing runs. */
  'reboot',
  /** The state of kcri and of the runtime is lost, and all manifests: the directories of the pods are orphaned. */
  'lost',
] as const;

/** Name of what happens after a kill. */
export type Aftermath = (typeof AFTERMATHS)[number];

/** A call of a method of the driver, after `skip` others of it. */
export interface DriverCall {
  readonly method: string;
  readonly skip: number;
}

/** Faults of a play: of the driver, and a kill of the kubelet before one of its steps or in a call of the driver. */
export interface VolumePoint {
  readonly fault?: DriverCall & {readonly name: DriverFault};
  /** Step of the kubelet before which it is killed, counted from 0. */
  readonly killBeforeStep?: number;
  /** Step before which the kubelet that follows is killed too. */
  readonly killAgainBeforeStep?: number;
  /** Call of the driver in which the kubelet is killed. */
  readonly killIn?: DriverCall & {readonly stage: 'before' | 'after'};
  readonly aftermath?: Aftermath;
}

/** Returns the point as text, such as `NodeStageVolume 0 error, kill before step 17, reboot`. */
export function describeVolumePoint(point: VolumePoint): string {
  const {fault, killBeforeStep, killAgainBeforeStep, killIn, aftermath} = point;
  const parts = [
    fault && `${fault.method} ${fault.skip} ${fault.name}`,
    killBeforeStep !== undefined && `kill before step ${killBeforeStep}`,
    killAgainBeforeStep !== undefined && `again before step ${killAgainBeforeStep}`,
    killIn && `kill ${killIn.stage} ${killIn.method} ${killIn.skip}`,
    aftermath,
  ];
  return parts.filter((part) => typeof part === 'string').join(', ');
}

/** Returns the point with a description. Throws if that is not one. */
export function parseVolumePoint(description: string): VolumePoint {
  const point = description.split(', ').reduce((parsed, part) => ({...parsed, ...parsePart(part)}), {});
  if (describeVolumePoint(point) !== description) throw new Error(`"${description}" is not a point`);
  return point;
}

function parsePart(part: string): VolumePoint {
  const [, name, number] = /^(kill|again) before step (\d+)$/.exec(part) ?? [];
  if (name !== undefined)
    return name === 'kill' ? {killBeforeStep: Number(number)} : {killAgainBeforeStep: Number(number)};
  const [, stage, killed, killedSkip] = /^kill (before|after) (\w+) (\d+)$/.exec(part) ?? [];
  if (killed !== undefined)
    return {
      killIn: {method: killed, skip: Number(killedSkip), stage: stage === 'after' ? 'after' : 'before'},
    };
  const [method = '', skip, fault] = part.split(' ');
  const found = DRIVER_FAULTS.find((one) => one === fault);
  if (found !== undefined) return {fault: {method, skip: Number(skip), name: found}};
  const aftermath = AFTERMATHS.find((one) => one === part);
  return aftermath === undefined ? {} : {aftermath};
}

/** Number of kills that each fault of the driver is combined with. */
const KILLS_OF_FAULT = 1;
/** Number of steps within which a kubelet is killed that follows a killed one: by then it has cleaned up after it. */
const STEPS_OF_SUCCESSOR = 200;

/**
 * Returns the points with an aftermath from a run without faults, which had `steps` steps and these calls of the driver: a kill
 * before each step, alone and followed by another one, and around each call; each fault in each call, followed by kills before any steps; and, with the first
 * aftermath, each fault alone. `choose` returns an integer in [0, n).
 */
export function planVolumePoints(
  aftermath: Aftermath,
  {steps, methods}: {readonly steps: number; readonly methods: readonly string[]},
  choose: (n: number) => number,
): readonly VolumePoint[] {
  const counts = new Map<string, number>();
  const calls = methods.map((method) => {
    const skip = counts.get(method) ?? 0;
    counts.set(method, skip + 1);
    return {method, skip};
  });
  const faults = calls.flatMap((call) => DRIVER_FAULTS.map((name) => ({...call, name})));
  return [
    ...Array.from({length: steps}, (_, step) => ({killBeforeStep: step, aftermath})),
    ...Array.from({length: steps}, (_, step) => ({
      ...{killBeforeStep: step, killAgainBeforeStep: choose(STEPS_OF_SUCCESSOR), aftermath},
    })),
    ...calls.flatMap((call) =>
      (['before', 'after'] as const).map((stage) => ({killIn: {...call, stage}, aftermath})),
    ),
    ...(aftermath === AFTERMATHS[0] ? faults.map((fault) => ({fault})) : []),
    ...faults.flatMap((fault) =>
      Array.from({length: KILLS_OF_FAULT}, () => ({fault, killBeforeStep: choose(steps), aftermath})),
    ),
  ];
}
